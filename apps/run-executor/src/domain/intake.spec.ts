import type { AllowedModel } from '@runyard/contracts';
import { definitionFor } from './intake';
import type { AgentFacts, CatalogueFacts } from './intake';

const model = (modelId: string, fallbacks: string[] = []): AllowedModel => ({
  modelId,
  label: modelId,
  tier: modelId,
  provider: { kind: 'recorded', recording: `${modelId}.json` },
  model: modelId,
  contextWindow: 1_000,
  maxOutputTokens: 100,
  prices: [],
  fallbacks,
});
const catalogue: CatalogueFacts = {
  models: [model('own', ['spare']), model('other'), model('spare')],
  platformPrompt: '',
  tools: [],
};
const agent = {
  agentId: 'a',
  ownerId: 'u',
  version: 1,
  behaviour: { prompt: 'P' },
  details: { name: 'A', meta: {} },
  modelId: 'own',
  tools: [],
} as unknown as AgentFacts;
const routes = (modelId?: string) =>
  definitionFor(agent, catalogue, [], modelId).models.map((route) => route.modelId);

describe('the model of a request', () => {
  it('takes the place of the agent’s, with its own fallbacks', () => {
    expect(routes()).toEqual(['own', 'spare']);
    expect(routes('other')).toEqual(['other']);
    expect(routes('spare')).toEqual(['spare']);
  });

  it('must be on the allowed list', () => {
    expect(() => routes('gone')).toThrow('The model gone is not on the allowed list');
  });
});
