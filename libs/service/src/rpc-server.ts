import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { Problem, rpcSubject } from '@runyard/contracts';
import type { Caller, RpcReply, RpcRequest } from '@runyard/contracts';
import type { Logger } from './logger';
import type { Metrics } from './metrics';
import { toProblem } from './problem.adapter';
import { withContext } from './request-context';
import { Tracing } from './tracing';
import type { RpcHandler } from './types';

/** Requests that may wait for a place, per place; more are turned away at once, since their callers have given up before their turn. */
const WAITING_PER_PLACE = 16;

/**
 * Serves RPC methods over NATS request/reply, in a queue group of the service: one of its instances answers.
 *
 * Invariants:
 * 1. Every request is answered exactly once, also when its handler throws or its answer cannot be sent.
 * 2. At most `concurrency` handlers run at once.
 * 3. After `stop`, no request is taken and none is in hand (bounded by the time given).
 */
export class RpcServer {
  private readonly subscriptions: Subscription[] = [];
  private readonly waiting: (() => void)[] = [];
  private running = 0;
  private readonly idle: (() => void)[] = [];

  constructor(
    private readonly connection: NatsConnection,
    private readonly service: string,
    private readonly concurrency: number,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly tracing = Tracing.off,
  ) {}

  serve(method: string, handler: RpcHandler): void {
    this.subscriptions.push(
      this.connection.subscribe(rpcSubject(this.service, method), {
        queue: this.service,
        callback: (error, message) => {
          if (error) this.logger.error({ err: error, method }, 'an RPC subscription failed');
          else void this.take(method, handler, message);
        },
      }),
    );
  }

  async stop(withinMs: number): Promise<void> {
    await Promise.all(this.subscriptions.map((subscription) => subscription.drain().catch(() => undefined)));
    if (this.running === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([new Promise<void>((resolve) => this.idle.push(resolve)), late]);
    clearTimeout(timer);
  }

  private async take(method: string, handler: RpcHandler, message: Msg): Promise<void> {
    if (this.waiting.length >= this.concurrency * WAITING_PER_PLACE) {
      respond(
        message,
        refusal(
          new Problem('unavailable', `${this.service} has more to do than it can hold; try again shortly`, {
            retryable: true,
            retryAfterSeconds: 1,
          }),
        ),
      );
      return;
    }
    await this.enter();
    const done = this.metrics.rpcSeconds.startTimer({ method });
    let outcome = 'ok';
    try {
      outcome = await this.answer(method, handler, message);
    } finally {
      done({ outcome });
      this.leave();
    }
  }

  /** Invariant 1. Returns the outcome for the metrics. */
  private async answer(method: string, handler: RpcHandler, message: Msg): Promise<string> {
    const request = parse(message);
    if (!request) {
      respond(message, refusal(new Problem('malformed_json', 'The request is not an RPC request in JSON')));
      return 'malformed_json';
    }
    const { caller, traceparent, requestId } = request;
    const attributes = { 'rpc.system': 'nats', 'rpc.service': this.service, 'rpc.method': method };
    const facts = { kind: 'server', parent: traceparent, attributes } as const;
    return withContext({ requestId, org: caller.org, method }, () =>
      this.tracing.within(`${this.service}/${method}`, facts, async (span) => {
        try {
          respond(message, { ok: true, value: (await handler(caller, request.input)) ?? null });
          return 'ok';
        } catch (error) {
          const problem = toProblem(error, this.logger, `${this.service} ${method}`);
          span.fail(problem.code);
          respond(message, refusal(problem));
          return problem.code;
        }
      }),
    );
  }

  /** Invariant 2: a place is handed over, never counted twice. */
  private async enter(): Promise<void> {
    this.metrics.rpcInHand.inc();
    if (this.running < this.concurrency) {
      this.running++;
      return;
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    this.metrics.rpcInHand.dec();
    const next = this.waiting.shift();
    if (next) {
      next();
      return;
    }
    this.running--;
    if (this.running === 0) for (const wake of this.idle.splice(0)) wake();
  }
}

function parse(message: Msg): RpcRequest | undefined {
  try {
    const request = message.json<Partial<RpcRequest> | null>();
    return isCaller(request?.caller)
      ? { ...request, caller: request.caller, input: request.input }
      : undefined;
  } catch {
    return undefined;
  }
}

function isCaller(caller: Caller | undefined): caller is Caller {
  return typeof caller?.org === 'string' && typeof caller.actor === 'string' && Array.isArray(caller.roles);
}

const refusal = ({ code, message, facts }: Problem): RpcReply => ({
  ok: false,
  problem: { code, message, facts },
});

function respond(message: Msg, reply: RpcReply): void {
  message.respond(JSON.stringify(reply, int8));
}

/** The declared rule for bigint (int8 columns): a number where it is exact, a string beyond 2^53. */
function int8(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
}
