import type { StoredText, TaskPhase } from '@runyard/contracts';
import type { LiveTask } from './task';

// What the runs of a task are asked. A prompt is part of the request's event, so its parts are bounded: commits stay small.

/** Characters of a step's result that later phases are shown. */
const RESULT_SHOWN = 1_000;

const clipped = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)} […shortened; the step's own run has the whole]`;

const textOf = (stored: StoredText | null): string =>
  stored === null ? '' : 'text' in stored ? stored.text : stored.preview;

const section = (title: string, text: string | null): string[] => (text ? [`${title}:\n${text}`] : []);

const HOLD = [
  'If you need something that only a person can tell you, answer with JSON alone: {"needs_input": "your question"}.',
  'If another task has to be completed first, answer with JSON alone: {"blocked": "what you wait for"}.',
].join('\n');

/** The input of a run. `most`: steps that a plan may have. */
export function promptFor(task: LiveTask, phase: TaskPhase, step: number | null, most: number): string {
  const parts = [
    opening(phase),
    `Task: ${task.details.title}`,
    ...section('Description', task.details.description),
    ...section('Counts as done when', task.details.acceptance),
    ...section('A person adds', task.note),
    ...progress(task, phase, step),
    ...demand(task, phase, step, most),
    ...section(
      phase === 'act' ? 'The last verification found' : 'Your last answer could not be used',
      task.complaint,
    ),
  ];
  return parts.join('\n\n');
}

function opening(phase: TaskPhase): string {
  switch (phase) {
    case 'plan':
      return 'Plan the following task. Do not carry it out yet.';
    case 'act':
      return 'Carry out one step of the following task.';
    case 'verify':
      return 'Judge whether the following task is done. Change nothing.';
    case 'report':
      return 'Write the report of the following task, which is done. Change nothing.';
    default:
      return phase satisfies never;
  }
}

function progress(task: LiveTask, phase: TaskPhase, current: number | null): string[] {
  if (phase === 'plan' || task.steps.length === 0) return [];
  const lines = task.steps.map(({ title, status, result }, i) => {
    const head = `${i + 1}. ${title} (${i + 1 === current ? 'this step' : status})`;
    return result === null ? head : `${head}\n${clipped(textOf(result), RESULT_SHOWN)}`;
  });
  return [`Plan and results so far:\n${lines.join('\n')}`];
}

function demand(task: LiveTask, phase: TaskPhase, step: number | null, most: number): string[] {
  switch (phase) {
    case 'plan': {
      const format = '{"steps": [{"title": "what to do", "detail": "how, where it is not plain"}]}';
      return [`Answer with JSON alone, with 1 to ${most} steps, each for a run of its own:\n${format}`, HOLD];
    }
    case 'act': {
      const planned = step === null ? undefined : task.steps[step - 1];
      const what = [planned?.title, planned?.detail].filter(Boolean).join('\n');
      return [`Step ${step}:\n${what}`, 'Do this step and no other. Answer with its result.', HOLD];
    }
    case 'verify': {
      const format =
        '{"accepted": true or false, "reason": "why", "redo": [numbers of the steps to do again]}';
      return [`Answer with JSON alone:\n${format}`, HOLD];
    }
    case 'report':
      return ['Answer with the report: what was done, what came of it, and what is left open.'];
    default:
      return phase satisfies never;
  }
}
