/** Trees that are started while everything is killed under them: more of them find more (README). */
export const STORM_TREES = Number(process.env['RUNYARD_STORM_TREES'] ?? '6');
