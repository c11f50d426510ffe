import 'reflect-metadata';
import { bootstrap } from '@runyard/service';
import { readSchedulerConfig } from './config';
import { SchedulerModule } from './scheduler.module';

void bootstrap(() => SchedulerModule.forRoot(readSchedulerConfig()));
