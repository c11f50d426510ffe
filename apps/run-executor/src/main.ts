import { bootstrap } from '@runyard/service';
import { readExecutorConfig } from './config';
import { RunExecutorModule } from './run-executor.module';

void bootstrap(() => RunExecutorModule.forRoot(readExecutorConfig()));
