import 'reflect-metadata';
import { bootstrap } from '@runyard/service';
import { BudgetLedgerModule } from './budget-ledger.module';
import { readBudgetLedgerConfig } from './config';

void bootstrap(() => BudgetLedgerModule.forRoot(readBudgetLedgerConfig()));
