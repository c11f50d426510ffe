import type { NewEvent, StoredText, ToolCallFailed, ToolCallStarted } from '@runyard/contracts';
import { EPOCH } from './run-log';
import { event, text } from './sample-texts';
import type { DataOf } from './sample-texts';

const place = (callId: string): number => Number(/^c(\d+)-/.exec(callId)?.[1]);

export const callStarted = (
  callId: string,
  tool: string,
  changed: Partial<DataOf<ToolCallStarted>> = {},
): NewEvent =>
  event('ToolCallStarted', {
    step: place(callId),
    callId,
    tool,
    effect: 'read',
    idempotent: true,
    idempotencyKey: `key of ${callId}`,
    argumentsDigest: 'a'.repeat(64),
    attempt: 1,
    decision: { decidedBy: 'mode:auto', ruleId: null, groupKey: null },
    ...changed,
  });

export const callSucceeded = (
  callId: string,
  tool: string,
  result: StoredText = text('three books'),
  startedAt = EPOCH,
): NewEvent =>
  event('ToolCallSucceeded', { step: place(callId), callId, tool, observation: result, startedAt });

export const callFailed = (
  callId: string,
  tool: string,
  changed: Partial<DataOf<ToolCallFailed>> = {},
): NewEvent =>
  event('ToolCallFailed', {
    step: place(callId),
    callId,
    tool,
    error: { code: 'tool_error', text: 'no such shelf' },
    observation: text('Error: no such shelf'),
    startedAt: EPOCH,
    attempt: 1,
    willRetry: false,
    retryInMs: 0,
    ...changed,
  });

export const callDenied = (callId: string, tool: string): NewEvent =>
  event('ToolCallDenied', {
    step: place(callId),
    callId,
    tool,
    observation: text('Denied: the run plans only.'),
    decision: { decidedBy: 'rule', ruleId: 'rule-1', groupKey: 'writes' },
  });

export const callCancelled = (callId: string, tool: string, startedAt: number | null = null): NewEvent =>
  event('ToolCallCancelled', {
    step: place(callId),
    callId,
    tool,
    observation: text('Cancelled.'),
    startedAt,
  });

export const callAmbiguous = (callId: string, tool: string): NewEvent =>
  event('ToolCallAmbiguous', {
    step: place(callId),
    callId,
    tool,
    cause: 'crash',
    text: 'Nobody knows whether it happened.',
  });
