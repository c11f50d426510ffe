import type { CapsEvent } from '@runyard/contracts';
import { NO_CAPS, capEntry, capFor, decideCaps, evolveCaps } from './caps';
import type { Caps, CapsCommand } from './caps';

const OWNER = '11111111-1111-4111-8111-111111111111';

function after(...commands: CapsCommand[]): Caps {
  return commands.reduce(
    (caps, command) =>
      decideCaps(caps, command).reduce(
        (state, event) => evolveCaps(state, { ...event, time: 0, actor: 'user:a' } as CapsEvent),
        caps,
      ),
    NO_CAPS,
  );
}

it('an owner has the default until they have a cap of their own, and again when it is cleared', () => {
  expect(capFor(NO_CAPS, OWNER)).toMatchObject({ tokens: null, source: 'default' });
  const set = after({ type: 'SetCap', ownerId: null, tokens: 100 });
  expect(capFor(set, OWNER)).toMatchObject({ tokens: 100, source: 'default' });
  const own = after(
    { type: 'SetCap', ownerId: null, tokens: 100 },
    { type: 'SetCap', ownerId: OWNER, tokens: null },
  );
  expect(capFor(own, OWNER)).toMatchObject({ tokens: null, source: 'owner' });
  expect(capFor(own, 'another')).toMatchObject({ tokens: 100, source: 'default' });
  const cleared = after(
    { type: 'SetCap', ownerId: null, tokens: 100 },
    { type: 'SetCap', ownerId: OWNER, tokens: 5 },
    { type: 'ClearCap', ownerId: OWNER },
  );
  expect(capFor(cleared, OWNER)).toMatchObject({ tokens: 100, source: 'default' });
  expect(capEntry(cleared, OWNER).changes).toBe(2);
});

it('says nothing twice, and refuses a change that was decided on an older cap', () => {
  const set = after({ type: 'SetCap', ownerId: OWNER, tokens: 5 });
  expect(decideCaps(set, { type: 'SetCap', ownerId: OWNER, tokens: 5, expected: 1 })).toEqual([]);
  expect(decideCaps(NO_CAPS, { type: 'ClearCap', ownerId: OWNER })).toEqual([]);
  expect(() => decideCaps(set, { type: 'SetCap', ownerId: OWNER, tokens: 6, expected: 0 })).toThrow(
    'changed meanwhile',
  );
});
