/** URL of a superuser on the Postgres of this jest run, set by deploy/local/jest-setup.mjs. Throws where it is missing: specs fail, never skip. */
export function testDatabaseUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url)
    throw new Error('TEST_DATABASE_URL is not set; run the spec through jest with the root configuration');
  return url;
}
