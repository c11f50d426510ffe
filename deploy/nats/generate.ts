import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { containerConfiguration } from './configuration';

writeFileSync(join(__dirname, '../../../deploy/docker/nats.conf'), containerConfiguration());
