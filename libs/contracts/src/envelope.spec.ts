import {
  AGENT_EVENTS,
  CATALOGUE_EVENTS,
  CONVERSATION_EVENTS,
  PEOPLE_EVENTS,
  RUN_EVENTS,
  eventType,
  parseEventType,
} from './index';

const TABLES = { AGENT_EVENTS, CATALOGUE_EVENTS, CONVERSATION_EVENTS, PEOPLE_EVENTS, RUN_EVENTS };
const names = Object.values(TABLES).flatMap((table) => Object.keys(table));

describe('event types', () => {
  it.each(names)('%s is written and read back', (name) => {
    expect(parseEventType(eventType(name, 3))).toEqual({ name, version: 3 });
  });

  it('name every event once, over all contexts', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    '',
    'RunQueued',
    'runyard.RunQueued',
    'runyard.RunQueued.v0',
    'runyard.RunQueued.v01',
    'runyard.runQueued.v1',
    'com.other.RunQueued.v1',
    'runyard.Run-Queued.v1',
    'runyard.RunQueued.v1\n',
  ])('that are not ours are not read: %j', (type) => {
    expect(parseEventType(type)).toBeUndefined();
  });
});
