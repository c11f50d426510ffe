import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { Problem } from '@runyard/contracts';
import { currentContext, withContext } from './request-context';
import { tracingTo } from './trace-exporter';
import { Tracing } from './tracing';

const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const UNSAMPLED = GIVEN.replace(/-01$/, '-00');

function collected(ratio = 1) {
  const exporter = new InMemorySpanExporter();
  const tracing = tracingTo('spec', { url: '', ratio }, new SimpleSpanProcessor({ exporter }));
  return { tracing, spans: () => exporter.getFinishedSpans() };
}

describe('traces', () => {
  it('join the trace that a request brings along, and pass the new span on', async () => {
    const { tracing, spans } = collected();
    const passedOn = await withContext({ traceparent: GIVEN }, () =>
      tracing.within('outer', { kind: 'server' }, () =>
        tracing.within('inner', { kind: 'internal' }, async () => currentContext()?.traceparent),
      ),
    );
    const [inner, outer] = spans();
    expect([inner?.name, outer?.name]).toEqual(['inner', 'outer']);
    expect(outer?.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(outer?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(passedOn).toContain(inner?.spanContext().spanId);
  });

  it('begin a trace of their own where nothing came along or what came is no trace', () => {
    const { tracing, spans } = collected();
    tracing.open('alone', { kind: 'internal' }).end();
    tracing.open('odd', { kind: 'internal', parent: 'rubbish' }).end();
    expect(spans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
  });

  it('record what was decided elsewhere, and their own share of the rest', () => {
    const { tracing, spans } = collected(0);
    tracing.open('own', { kind: 'internal' }).end();
    tracing.open('unsampled', { kind: 'internal', parent: UNSAMPLED }).end();
    tracing.open('sampled', { kind: 'internal', parent: GIVEN }).end();
    expect(spans().map(({ name }) => name)).toEqual(['sampled']);
  });

  it('tell failures by their code, never by their text', async () => {
    const { tracing, spans } = collected();
    const failing = tracing.within('failing', { kind: 'server' }, async () => {
      throw new Problem('not_found', 'a secret');
    });
    await expect(failing).rejects.toThrow('a secret');
    const [span] = spans();
    expect(span?.attributes['error.type']).toBe('not_found');
    expect(JSON.stringify([span?.status, span?.attributes, span?.events])).not.toContain('secret');
  });

  it('cost nothing and hand on what came where nobody collects', async () => {
    const passedOn = await withContext({ traceparent: GIVEN }, () =>
      Tracing.off.within('off', { kind: 'server' }, async () => currentContext()?.traceparent),
    );
    expect(passedOn).toBe(GIVEN);
  });
});
