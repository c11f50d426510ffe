import { Inject, Injectable } from '@nestjs/common';
import type { Caller, ReadAnswer, SearchAnswer, SourcesAnswer } from '@runyard/contracts';
import { mcpMessageSchema, parseWith } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { answerMcp } from './mcp-server';
import { Reading } from './reading';

/** RPC `knowledge.*`: what the core tools ask, for runs (as the agent's owner) and for people (as themselves). */
@Injectable()
export class KnowledgeController {
  constructor(@Inject(Reading) private readonly reading: Reading) {}

  @RpcMethod('knowledge.search')
  search(caller: Caller, body: unknown): Promise<SearchAnswer> {
    return this.reading.search(caller, body);
  }

  @RpcMethod('knowledge.read')
  read(caller: Caller, body: unknown): Promise<ReadAnswer> {
    return this.reading.read(caller, body);
  }

  @RpcMethod('knowledge.sources')
  sources(caller: Caller, body: unknown): Promise<SourcesAnswer> {
    return this.reading.sources(caller, body);
  }

  /** One message of the Model Context Protocol; null: it wants no answer. */
  @RpcMethod('knowledge.mcp')
  async mcp(caller: Caller, body: unknown): Promise<{ message: unknown }> {
    return { message: await answerMcp(this.reading, caller, parseWith(mcpMessageSchema, body)) };
  }
}
