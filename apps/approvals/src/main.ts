import 'reflect-metadata';
import { bootstrap } from '@runyard/service';
import { ApprovalsModule } from './approvals.module';
import { readApprovalsConfig } from './config';

void bootstrap(() => ApprovalsModule.forRoot(readApprovalsConfig()));
