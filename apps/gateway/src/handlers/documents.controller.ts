import { Controller } from '@nestjs/common';
import { PROBLEMS, Problem } from '@runyard/contracts';
import type { ProblemCode } from '@runyard/contracts';
import { z } from 'zod';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ApiDescription } from '../openapi/api-description';
import { PROBLEM_CATALOGUE } from '../problems/problem-catalogue';

const tag = 'documents';
const problemPage = z
  .object({
    code: z.string(),
    title: z.string(),
    status: z.int(),
    retryable: z.boolean(),
    meaning: z.string(),
    remedy: z.string(),
  })
  .meta({ id: 'ProblemPage' });
const problemRef = z.strictObject({ code: z.string().max(80, 'must be at most 80 characters') });

/** What the API says about itself; public, because it is the same for everybody. */
@Controller()
export class DocumentsController {
  constructor(private readonly description: ApiDescription) {}

  @Route({
    method: 'GET',
    path: '/v1/openapi.json',
    name: 'openapi',
    tag,
    summary: 'Read this description',
    access: 'public',
    input: z.strictObject({}),
    success: [{ status: 200, description: 'OpenAPI 3.1', body: z.looseObject({}) }],
  })
  openapi(): unknown {
    return this.description.document;
  }

  @Route({
    method: 'GET',
    path: '/v1/problems/:code',
    name: 'problems.get',
    tag,
    summary: 'Read what a problem means and what to do',
    access: 'public',
    input: problemRef,
    success: [{ status: 200, description: 'The problem', body: problemPage }],
  })
  problem(@FromRequest() call: Call<{ code: string }>): z.infer<typeof problemPage> {
    const { code } = call.input;
    if (!Object.hasOwn(PROBLEMS, code)) throw new Problem('not_found', 'There is no problem with this code');
    const known = code as ProblemCode;
    return { code, status: PROBLEMS[known], ...PROBLEM_CATALOGUE[known] };
  }
}
