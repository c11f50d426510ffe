import 'reflect-metadata';
import { bootstrap } from '@runyard/service';
import { readTasksConfig } from './config';
import { TasksModule } from './tasks.module';

void bootstrap(() => TasksModule.forRoot(readTasksConfig()));
