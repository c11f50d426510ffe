import { refusalOf } from './addresses';

describe('C64 address table (bigduu/Bamboo-agent#231)', () => {
  it.each(['93.184.216.34', '1.1.1.1', '2606:2800:220:1::1', '2a00:1450:4001::1'])(
    '%s is public',
    (address) => {
      expect(refusalOf(address, false)).toBeUndefined();
    },
  );

  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fd00::1', 'uniqueLocal'],
    ['fc00::1', 'uniqueLocal'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['ff02::1', 'multicast'],
    ['::ffff:127.0.0.1', 'ipv4Mapped'],
    ['::ffff:93.184.216.34', 'ipv4Mapped'],
    ['::7f00:1', 'ipv4Compatible'],
    ['64:ff9b::127.0.0.1', 'rfc6052'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['2002:7f00:1::', '6to4'],
    ['2001::1', 'teredo'],
    ['2001:db8::1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('%s is refused as %s', (address, kind) => {
    expect(refusalOf(address, false)).toBe(`a ${kind} address`);
  });

  it.each(['127.1', '0x7f.0.0.1', '2130706433', '017700000001', 'localhost', '', '1.2.3.4.5', '::1::'])(
    '%j is no address',
    (address) => {
      expect(refusalOf(address, true)).toBe('not an IP address');
    },
  );

  it.each(['127.0.0.1', '10.0.0.1', '100.64.0.1', '::1', 'fd00::1'])('%s is opened by `true`', (address) => {
    expect(refusalOf(address, true)).toBeUndefined();
  });

  it.each([
    '169.254.169.254',
    'fe80::1',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    '::ffff:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '2002:a00:1::',
  ])('%s stays shut with `true`', (address) => {
    expect(refusalOf(address, true)).toBeDefined();
  });

  it('a listed block opens what lies in it, and the address inside a transitional form is judged as well', () => {
    const blocks = ['127.0.0.2/32', '169.254.0.0/16', '64:ff9b::/96'];
    expect(refusalOf('127.0.0.2', blocks)).toBeUndefined();
    expect(refusalOf('127.0.0.1', blocks)).toBe('a loopback address');
    expect(refusalOf('169.254.169.254', blocks)).toBeUndefined();
    expect(refusalOf('64:ff9b::93.184.216.34', blocks)).toBeUndefined();
    expect(refusalOf('64:ff9b::10.0.0.1', blocks)).toBe('a private address');
  });
});
