import type { AllowedModel, ModelsEvent } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import { NO_MODELS, decideModels, evolveModels } from './models';
import type { Models, ModelsCommand } from './models';
import type { Asker } from './rights';

const given = deciderSpec<Models, ModelsCommand, ModelsEvent>({
  initial: NO_MODELS,
  evolve: evolveModels,
  decide: decideModels,
});
const asker: Asker = { userId: 'a', roles: ['admin'] };

const price = (validFrom: string, input = '1') => ({
  currency: 'USD',
  input,
  output: '2',
  cached: '0.5',
  validFrom,
});
const model = (modelId: string, more: Partial<AllowedModel> = {}): AllowedModel => ({
  modelId,
  label: modelId,
  tier: 'fast',
  provider: { kind: 'recorded', recording: 'r.json' },
  model: 'm-1',
  contextWindow: 1_000,
  maxOutputTokens: 100,
  prices: [],
  fallbacks: [],
  ...more,
});
const allowed = (modelId: string, more: Partial<AllowedModel> = {}) => ({
  type: 'ModelAllowed' as const,
  data: { model: model(modelId, more) },
});
const isDefault = (modelId: string) => ({ type: 'DefaultModelSet' as const, data: { modelId } });
const removed = (modelId: string) => ({ type: 'ModelRemoved' as const, data: { modelId } });
const allow = (m: AllowedModel, byDefault = false): ModelsCommand => ({
  type: 'AllowModel',
  asker,
  model: m,
  isDefault: byDefault,
});
const revise = (modelId: string, changes: Partial<AllowedModel>): ModelsCommand => ({
  type: 'ReviseModel',
  asker,
  modelId,
  changes,
});
const state = (...events: Pick<ModelsEvent, 'type' | 'data'>[]) =>
  events.reduce(
    (models, event) => evolveModels(models, { ...event, time: 0, actor: 'system:t' } as ModelsEvent),
    NO_MODELS,
  );

describe('the allowed list', () => {
  it('makes its first row the default, a later one only when asked', () => {
    given()
      .when(allow(model('a')))
      .then(allowed('a'), isDefault('a'));
    given(allowed('a'), isDefault('a'))
      .when(allow(model('b')))
      .then(allowed('b'));
    given(allowed('a'), isDefault('a'))
      .when(allow(model('b'), true))
      .then(allowed('b'), isDefault('b'));
  });

  it('says nothing when the same row is allowed again, and refuses another one of that id', () => {
    given(allowed('a'), isDefault('a'))
      .when(allow(model('a')))
      .thenNothing();
    given(allowed('a'))
      .when(allow(model('a', { label: 'x' })))
      .thenRefused('already_exists');
  });

  it('has fallbacks among its own rows only', () => {
    given(allowed('a'), isDefault('a'))
      .when(allow(model('b', { fallbacks: ['a'] })))
      .then(allowed('b', { fallbacks: ['a'] }));
  });

  it('refuses fallbacks that are not rows, are the row itself or come twice, and answers longer than the window', () => {
    given(allowed('a'))
      .when(allow(model('b', { fallbacks: ['c'] })))
      .thenRefused(/not a model of the allowed list/);
    given(allowed('a'))
      .when(revise('a', { fallbacks: ['a'] }))
      .thenRefused(/the model itself/);
    given(allowed('a'), allowed('b'))
      .when(revise('a', { fallbacks: ['b', 'b'] }))
      .thenRefused(/named twice/);
    given(allowed('a'))
      .when(revise('a', { maxOutputTokens: 2_000 }))
      .thenRefused(/more than the context window/);
  });

  it('repoints a row without making it another one', () => {
    given(allowed('a'))
      .when(revise('a', { model: 'm-2' }))
      .then({ type: 'ModelRevised', data: { model: model('a', { model: 'm-2' }) } });
    given(allowed('a'))
      .when(revise('a', { model: 'm-1' }))
      .thenNothing();
    given()
      .when(revise('a', { model: 'm-2' }))
      .thenRefused('not_found');
    expect(
      state(allowed('a'), { type: 'ModelRevised', data: { model: model('a', { model: 'm-2' }) } }).entries.a
        ?.row,
    ).toBe(1);
  });

  it('adds prices and never takes one away, not even with the row', () => {
    const [first, second] = [price('2026-01-01T00:00:00.000Z'), price('2026-02-01T00:00:00.000Z')];
    given(allowed('a', { prices: [second] }))
      .when(revise('a', { prices: [first] }))
      .then({ type: 'ModelRevised', data: { model: model('a', { prices: [first, second] }) } });
    const corrected = price(first.validFrom, '3');
    given(allowed('a', { prices: [first] }))
      .when(revise('a', { prices: [corrected] }))
      .then({ type: 'ModelRevised', data: { model: model('a', { prices: [corrected] }) } });
    given(allowed('a', { prices: [first] }), isDefault('a'), removed('a'))
      .when(allow(model('a', { prices: [second] })))
      .then(allowed('a', { prices: [first, second] }), isDefault('a'));
    given(allowed('a'))
      .when(revise('a', { prices: [first, first] }))
      .thenRefused(/two prices/);
  });

  it('takes a removed row out of every fallback list and the default at once', () => {
    const after = state(allowed('a'), isDefault('a'), allowed('b', { fallbacks: ['a'] }), removed('a'));
    expect(after.entries).toEqual({ b: { model: model('b'), row: 1 } });
    expect(after.defaultModelId).toBeNull();
    given(allowed('a')).when({ type: 'RemoveModel', asker, modelId: 'a' }).then(removed('a'));
    given().when({ type: 'RemoveModel', asker, modelId: 'a' }).thenNothing();
  });

  it('counts the incarnations of a row', () => {
    expect(state(allowed('a'), removed('a'), allowed('a')).entries.a?.row).toBe(2);
    expect(state(allowed('a'), removed('a')).incarnations.a).toBe(1);
  });

  it('has a default among its rows, set once', () => {
    given(allowed('a'), allowed('b'), isDefault('a'))
      .when({ type: 'SetDefaultModel', asker, modelId: 'b' })
      .then(isDefault('b'));
    given(allowed('a'), isDefault('a')).when({ type: 'SetDefaultModel', asker, modelId: 'a' }).thenNothing();
    given().when({ type: 'SetDefaultModel', asker, modelId: 'a' }).thenRefused('not_found');
  });

  it('keeps the prompt of the platform', () => {
    const set = { type: 'PlatformPromptSet' as const, data: { prompt: 'Be brief.' } };
    given().when({ type: 'SetPlatformPrompt', asker, prompt: 'Be brief.' }).then(set);
    given(set).when({ type: 'SetPlatformPrompt', asker, prompt: 'Be brief.' }).thenNothing();
  });

  it('is changed by admins alone', () => {
    for (const roles of [['member'], ['operator'], ['service'], []] as const)
      given()
        .when({ ...allow(model('a')), asker: { userId: 'b', roles } })
        .thenRefused('forbidden');
  });
});
