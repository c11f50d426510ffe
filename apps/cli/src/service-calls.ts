import type { Caller } from '@runyard/contracts';
import { NatsRpcClient } from '@runyard/service';
import type { Installation } from './installation';

/** Longer than any command of a service takes. */
const TIMEOUT_MS = 20_000;

/** Calls services as an operator of one org. */
export async function rpcOf(
  installation: Installation,
  caller: Caller,
): Promise<<T>(service: string, method: string, input: unknown) => Promise<T>> {
  const client = new NatsRpcClient((await installation.bus()).connection);
  return (service, method, input) => client.call(service, method, caller, input, { timeoutMs: TIMEOUT_MS });
}
