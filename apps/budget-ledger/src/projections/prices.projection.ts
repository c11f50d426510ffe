import { CATALOGUE_EVENTS, storableTime } from '@runyard/contracts';
import type { CatalogueEvent } from '@runyard/contracts';
import { RowChanges, eventsOf, isOrg, mayHold } from '@runyard/persistence';
import type { Projection, RowTable } from '@runyard/persistence';

interface Price {
  org_id: string;
  model_id: string;
  valid_from: string;
  currency: string;
  input: string;
  output: string;
  cached: string;
  position: string;
}

const PRICES: RowTable<Price> = {
  name: 'model_prices',
  key: ['org_id', 'model_id', 'valid_from'],
  columns: ['currency', 'input', 'output', 'cached', 'position'],
};

const CONCERNING = ['ModelAllowed', 'ModelRevised'];

/** Dated prices of models. The registry adds and corrects them and takes none away (domain, section 2). */
export const MODEL_PRICES: Projection = {
  name: 'ledger-prices',
  version: 1,
  stream: 'AGENTS',
  concerns: (commit) => mayHold(commit, CONCERNING),
  async apply(tx, commits) {
    const rows = commits
      .flatMap((commit) => eventsOf<CatalogueEvent>(commit, CATALOGUE_EVENTS))
      .flatMap(({ event, org, sequence, index }): Price[] => {
        if ((event.type !== 'ModelAllowed' && event.type !== 'ModelRevised') || !isOrg(org)) return [];
        const { modelId, prices } = event.data.model;
        return prices.map(({ validFrom, ...price }) => ({
          org_id: org,
          model_id: modelId,
          // Not refused any more: it would stop the prices of every org.
          valid_from: storableTime(validFrom),
          ...price,
          position: `${sequence}.${index}`,
        }));
      });
    if (rows.length === 0) return;
    const changes = await RowChanges.load(tx, PRICES, []);
    for (const row of rows) changes.set(row);
    await changes.save(tx);
  },
};
