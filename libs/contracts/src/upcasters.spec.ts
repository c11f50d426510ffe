import type { CloudEvent } from './envelope';
import { eventType } from './envelope';
import { CURRENT_VERSIONS, UPCASTERS, currentVersion, upcast } from './upcasters';

const event = (type: string, data: unknown = {}): CloudEvent<unknown> => ({
  specversion: '1.0',
  id: 'c.0',
  source: 'test',
  type,
  subject: 'r1',
  time: '2026-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  org: 'acme',
  actor: 'system:test',
  data,
});
const known = (name: string) => name === 'RunPaused';
const shapes = {
  versions: { RunPaused: 3 },
  upcasters: {
    'runyard.RunPaused.v1': (data: unknown) => ({ ...(data as object), second: true }),
    'runyard.RunPaused.v2': (data: unknown) => ({ ...(data as object), third: true }),
  },
};

describe('upcast', () => {
  it('passes an event of the newest version on', () => {
    expect(upcast(event('runyard.RunPaused.v1', { a: 1 }), known)).toEqual({
      name: 'RunPaused',
      data: { a: 1 },
      known: true,
    });
  });

  it('lifts a past version step by step, without touching what was stored', () => {
    const stored = event('runyard.RunPaused.v1', { a: 1 });
    expect(upcast(stored, known, shapes)).toEqual({
      name: 'RunPaused',
      data: { a: 1, second: true, third: true },
      known: true,
    });
    expect(stored.data).toEqual({ a: 1 });
    expect(upcast(event('runyard.RunPaused.v2'), known, shapes).data).toEqual({ third: true });
  });

  it.each([
    ['a newer version', 'runyard.RunPaused.v9', 'RunPaused'],
    ['an unknown name', 'runyard.Other.v1', 'Other'],
    ['a foreign type', 'com.example.Thing', 'com.example.Thing'],
  ])('reports %s as unknown (P8.9)', (_what, type, name) => {
    expect(upcast(event(type), known, shapes)).toMatchObject({ name, known: false });
  });

  it('reports a version whose upcaster is missing as unknown', () => {
    expect(upcast(event('runyard.RunPaused.v1'), known, { ...shapes, upcasters: {} }).known).toBe(false);
  });
});

describe('the tables', () => {
  it('have an upcaster for every past version, and none that is never used', () => {
    const needed = Object.entries(CURRENT_VERSIONS).flatMap(([name, newest]) =>
      Array.from({ length: newest - 1 }, (_, i) => eventType(name, i + 1)),
    );
    expect(Object.keys(UPCASTERS).sort((a, b) => a.localeCompare(b))).toEqual(
      needed.sort((a, b) => a.localeCompare(b)),
    );
  });

  it('start every event at version 1', () => {
    expect(currentVersion('NeverHeardOf')).toBe(1);
  });
});
