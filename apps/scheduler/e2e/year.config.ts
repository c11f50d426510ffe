/** Weeks of the simulated year: all of them with RUNYARD_SCHEDULE_YEAR=on. */
export const WEEKS = process.env.RUNYARD_SCHEDULE_YEAR === 'on' ? 52 : 4;
