// The process that projection.int.spec.ts kills: projects a made-up stream of commits into `counters`.
import { connectDatabase } from '../database';
import { runProjection } from '../projection-runner';
import { archiveProjection } from '../archive.projection';
import { countingProjection, countingSource } from './counting-projection';

const [url = '', acrossUrl = '', last = '0', name = 'counting'] = process.argv.slice(2);
const db = connectDatabase({ url, acrossUrl, applicationName: 'projector child' });

void runProjection({
  db,
  source: countingSource(Number(last)),
  projection: name === 'archive' ? archiveProjection('RUNS') : countingProjection,
  signal: new AbortController().signal,
  batchSize: 50,
  onStatus: (status) => process.send?.(status),
});
