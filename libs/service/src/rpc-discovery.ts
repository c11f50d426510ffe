import type { DiscoveryService } from '@nestjs/core';
import { rpcNameOf } from './rpc-method';
import type { RpcHandler } from './types';

/** Finds the methods that carry @RpcMethod on all providers of the service. Two of one name are a mistake of wiring and throw. */
export function rpcHandlers(discovery: DiscoveryService): Map<string, RpcHandler> {
  const handlers = new Map<string, RpcHandler>();
  for (const { instance } of discovery.getProviders()) {
    if (typeof instance !== 'object' || instance === null) continue;
    for (const [method, handler] of methodsOf(instance)) {
      if (handlers.has(method)) throw new Error(`Two handlers serve the RPC method ${method}`);
      handlers.set(method, handler);
    }
  }
  return handlers;
}

function methodsOf(instance: object): [string, RpcHandler][] {
  const found: [string, RpcHandler][] = [];
  for (
    let type: object | null = Object.getPrototypeOf(instance);
    type && type !== Object.prototype;
    type = Object.getPrototypeOf(type)
  ) {
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(type))) {
      const method = rpcNameOf(value);
      if (method) found.push([method, (caller, input) => value.call(instance, caller, input)]);
    }
  }
  return found;
}
