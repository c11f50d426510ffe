import { hashOfAll } from './replay';

// Another machine: its time zone, its language, a clock that jumps and a generator that is drawn from in between.
process.env.TZ = process.argv[2];
const random = Math.random;
Math.random = () => (random(), random());
Date.now = () => Number(process.argv[3]);
process.send?.({ zone: new Date(0).getTimezoneOffset(), hash: hashOfAll() });
process.disconnect?.();
