import { ownerCursor } from './owner-cursor';

test('a page goes on after an owner, and from nothing else', () => {
  const owner = 'f0a7b6a2-1c55-4a0e-8f0b-9a2f0c1d2e3f';
  expect([ownerCursor(undefined), ownerCursor(owner)]).toEqual([null, owner]);
  for (const made of ['', 'true', `${owner}x`, "' OR 1=1 --"])
    expect(() => ownerCursor(made)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
});
