import fc from 'fast-check';
import { TOKEN } from '@runyard/contracts';
import { approvalIdOf, canonicalJson, digestOf, runIdOf } from './index';

describe('canonicalJson', () => {
  it('sorts keys by code units at every depth and writes no white space', () => {
    expect(canonicalJson({ b: [{ z: 1, a: null }], a: 'x', '\u20ac': 1, '\r': 2, '1': 3 })).toBe(
      '{"\\r":2,"1":3,"a":"x","b":[{"a":null,"z":1}],"€":1}',
    );
  });

  it('writes numbers as ECMAScript does', () => {
    expect(canonicalJson([1e21, 1e-7, -0, 0.1, 100])).toBe('[1e+21,1e-7,0,0.1,100]');
  });

  it('leaves undefined members out and refuses what JSON cannot say', () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
    for (const value of [undefined, Number.NaN, Infinity, () => 1, Symbol('x')])
      expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('says the same for values that JSON says are the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(JSON.stringify(value)))).toBe(canonicalJson(value));
      }),
    );
  });
});

describe('digestOf', () => {
  it('does not depend on the order of keys', () => {
    expect(digestOf({ a: 1, b: 2 })).toBe(digestOf({ b: 2, a: 1 }));
    expect(digestOf({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});

describe('runIdOf', () => {
  it('names the same run for the same org and key, for ever', () => {
    expect(runIdOf('acme', 'order-1')).toBe(runIdOf('acme', 'order-1'));
    expect(runIdOf('acme', 'order-1')).toBe('run_nxfmy621x27bsbjg40mda7065g');
  });

  it('keeps orgs and keys apart, and is always a token', () => {
    expect(runIdOf('a', 'b')).not.toBe(runIdOf('ab', ''));
    expect(runIdOf('acme', 'x')).not.toBe(runIdOf('globex', 'x'));
    fc.assert(fc.property(fc.string(), fc.string(), (org, key) => TOKEN.test(runIdOf(org, key))));
  });
});

describe('approvalIdOf', () => {
  it('names a question about a call, and another question another way', () => {
    expect(approvalIdOf('run_1', 'c1-0', 'call')).toBe(approvalIdOf('run_1', 'c1-0', 'call'));
    const others = [approvalIdOf('run_1', 'c1-0', 'ambiguous-1'), approvalIdOf('run_1', 'c1-1', 'call')];
    expect(new Set([approvalIdOf('run_1', 'c1-0', 'call'), ...others]).size).toBe(3);
    expect(others[0]).toMatch(/^apr_[0-9a-z]{26}$/);
  });
});
