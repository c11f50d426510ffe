import { QUEUES, runRequestSchema } from '@runyard/contracts';
import { HEADERS } from './asyncapi-texts';
import type { JsonSchema } from './json-schema';
import { inputSchema } from './zod-schema';
import type { ReadTypes } from './read-types';
import { jetstreamFacts } from './stream-facts';

type Parts = Record<'channels' | 'operations' | 'messages', Record<string, unknown>> & {
  schemas: Record<string, JsonSchema>;
};

const REPLY = '$message.header#/Runyard-Reply';

/** Run requests, their answers, and the messages that nobody could handle. */
export function queueParts(read: ReadTypes): Parts {
  return {
    channels: { requests, answers, dead },
    operations: { receive_run_request: receive, send_dead_letter: give },
    messages,
    schemas: {
      RunRequest: inputSchema(runRequestSchema),
      IntakeAnswer: read.types.IntakeAnswer?.schema ?? {},
    },
  };
}

const org = {
  description: 'Id of the organization; who may publish for it is the business of the bus’s accounts',
};
const requests = {
  address: 'runyard.requests.{org}',
  title: 'Run requests',
  description: 'Where any service asks for a run; the key in the body names the run for ever.',
  parameters: { org },
  messages: { run_request: { $ref: '#/components/messages/run_request' } },
  'x-jetstream': jetstreamFacts(QUEUES.requests),
};
const answers = {
  address: null,
  title: 'Answers to run requests',
  description:
    'The subject that the request named in `Runyard-Reply`, usually an inbox. Plain NATS, not JetStream.',
  messages: { intake_answer: { $ref: '#/components/messages/intake_answer' } },
};
const dead = {
  address: 'runyard.dead.{stream}.{consumer}',
  title: 'Dead letters',
  description:
    'Messages that nobody could handle, with their original body, until an operator retries or drops them.',
  parameters: {
    stream: { description: 'Queue that the message came from' },
    consumer: { description: 'Who could not handle it' },
  },
  messages: { dead_letter: { $ref: '#/components/messages/dead_letter' } },
  'x-jetstream': jetstreamFacts('DEAD'),
};

const receive = {
  action: 'receive',
  title: 'Start a run',
  summary: 'Publish to the queue; the answer says whether it became a run',
  channel: { $ref: '#/channels/requests' },
  messages: [{ $ref: '#/channels/requests/messages/run_request' }],
  reply: {
    address: {
      location: REPLY,
      description: 'No answer within two seconds: not known yet, the request lies in the queue',
    },
    channel: { $ref: '#/channels/answers' },
    messages: [{ $ref: '#/channels/answers/messages/intake_answer' }],
  },
};
const give = {
  action: 'send',
  title: 'Give a message up',
  summary: 'After its attempts are used up, or because no attempt can help',
  channel: { $ref: '#/channels/dead' },
  messages: [{ $ref: '#/channels/dead/messages/dead_letter' }],
};

const messages = {
  run_request: {
    name: 'run.request',
    title: 'A request for a run',
    contentType: 'application/json',
    headers: HEADERS.request,
    payload: { $ref: '#/components/schemas/RunRequest' },
  },
  intake_answer: {
    name: 'intake.answer',
    title: 'What became of a request',
    contentType: 'application/json',
    payload: { $ref: '#/components/schemas/IntakeAnswer' },
  },
  dead_letter: {
    name: 'dead.letter',
    title: 'A message that was given up',
    contentType: 'application/octet-stream',
    headers: HEADERS.dead,
    payload: { description: 'The original body, unchanged; its own headers stand beside the ones below' },
  },
};
