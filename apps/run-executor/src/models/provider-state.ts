import type { ModelRoute } from '@runyard/contracts';
import { fieldsOf, parseJson, textOf, type Fields } from './wire-json';

/** Who wrote a provider state: signatures and thoughts mean nothing to another endpoint or model. */
export function writerOf(route: ModelRoute): string {
  const { provider } = route;
  return [provider.kind, 'baseUrl' in provider ? endpointOf(provider.baseUrl) : '', route.model]
    .join(' ')
    .trim();
}

/** A state as the log keeps it (JSON text). Its writer stands inside, so that nobody else has to remember it. */
export function sealState(route: ModelRoute, state: object | null): string | null {
  return state === null ? null : JSON.stringify({ writer: writerOf(route), ...state });
}

/** The state, where this very provider and model wrote it; null otherwise. */
export function openState(route: ModelRoute, sealed: string | null): Fields | null {
  const state = sealed === null ? null : fieldsOf(parseJson(sealed));
  return state && textOf(state['writer']) === writerOf(route) ? state : null;
}

/** Without user name, password and query, which may be secret. */
function endpointOf(baseUrl: string | undefined): string {
  if (!baseUrl || !URL.canParse(baseUrl)) return '';
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname;
}
