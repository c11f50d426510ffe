import { Inject, Injectable } from '@nestjs/common';
import { checkSecretsSchema, isHeaderText, parseWith, Problem } from '@runyard/contracts';
import type { Caller, SecretRow, SecretState } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { EXECUTOR_CONFIG } from '../tokens';
import type { ExecutorConfig } from '../config';
import { SecretFiles } from './files.adapter';

/** RPC `secrets.check`: which secrets could be sent, before a run needs them. For `runyard doctor`. */
@Injectable()
export class SecretsController {
  private readonly secrets: SecretFiles;

  constructor(@Inject(EXECUTOR_CONFIG) { secretsDir }: Pick<ExecutorConfig, 'secretsDir'>) {
    this.secrets = new SecretFiles(secretsDir);
  }

  @RpcMethod('secrets.check')
  async check(caller: Caller, input: unknown): Promise<{ data: SecretRow[] }> {
    if (!caller.actor.startsWith('system:'))
      throw new Problem('forbidden', 'Only operators ask how secrets stand.');
    const { names } = parseWith(checkSecretsSchema, input);
    return { data: names.map((name) => ({ name, state: this.stateOf(caller.org, name) })) };
  }

  private stateOf(org: string, name: string): SecretState {
    const value = this.secrets.value(org, name);
    if (!value) return 'missing';
    return isHeaderText(value) ? 'usable' : 'unsendable';
  }
}
