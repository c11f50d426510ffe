import { PROBLEMS, Problem } from '@runyard/contracts';
import type { ProblemCode } from '@runyard/contracts';
import { problemDocument, retryAfter, toProblem } from './problem-document';

const place = { publicUrl: 'https://runyard.example', path: '/v1/runs', requestId: 'req-1' };

describe('problem documents', () => {
  test.each(Object.entries(PROBLEMS))('%s has the members of RFC 9457 and ours', (code, status) => {
    const document = problemDocument(
      new Problem(code as ProblemCode, 'What happened', {
        extra: 1,
        service: 'agent-registry',
        retryAfterSeconds: 1,
      }),
      place,
    );
    expect(document).toMatchObject({
      type: `https://runyard.example/v1/problems/${code}`,
      title: expect.stringMatching(/^[A-Z]/),
      status,
      detail: code === 'internal' ? expect.not.stringMatching('What happened') : 'What happened',
      instance: '/v1/runs',
      code,
      request_id: 'req-1',
      retryable: expect.any(Boolean),
    });
    expect(document).not.toHaveProperty('service');
    expect(document).not.toHaveProperty('retryAfterSeconds');
    expect(document.extra).toBe(code === 'internal' ? undefined : 1);
  });

  test('facts never replace standard members', () => {
    const problem = new Problem('conflict', 'x', {
      status: 200,
      code: 'fine',
      type: 'about:blank',
      retryable: true,
    });
    expect(problemDocument(problem, place)).toMatchObject({
      status: 409,
      code: 'conflict',
      retryable: false,
    });
  });

  test('say when to come back only where that can help', () => {
    expect(retryAfter(new Problem('unavailable', 'x', { retryAfterSeconds: 2.2 }))).toBe(3);
    expect(retryAfter(new Problem('rate_limited', 'x'))).toBe(1);
    expect(retryAfter(new Problem('forbidden', 'x', { retryAfterSeconds: 2 }))).toBeUndefined();
  });

  test.each([
    [
      Object.assign(new Error('big'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 }),
      'payload_too_large',
    ],
    [
      Object.assign(new Error('type'), { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE', statusCode: 415 }),
      'unsupported_media_type',
    ],
    [
      new Error('outer', {
        cause: Object.assign(new Error('inner'), { code: 'FST_ERR_CTP_INVALID_JSON_BODY' }),
      }),
      'malformed_json',
    ],
    [Object.assign(new Error('odd'), { status: 418 }), 'invalid_request'],
    [new TypeError('a defect'), 'internal'],
    ['a thrown text', 'internal'],
    [new Problem('nonsense' as ProblemCode, 'x'), 'internal'],
  ])('%s becomes %s', (error, code) => {
    expect(toProblem(error).code).toBe(code);
  });
});
