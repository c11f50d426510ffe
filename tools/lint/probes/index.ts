import { LANGUAGE_PROBES, PURITY_PROBES } from './language';
import { NAME_PROBES } from './names';
import { ROOM_PROBES } from './rooms';

export { ALLOWED } from './allowed';

/** One violation of every rule. */
export const PLANTED = [...ROOM_PROBES, ...PURITY_PROBES, ...LANGUAGE_PROBES, ...NAME_PROBES];
