import { ConfigError } from '@runyard/service';
import { readGatewayConfig } from './config';

const base = { DATABASE_URL: 'postgres://a:b@db/x', DATABASE_ACROSS_URL: 'postgres://a:b@db/x' };
const variables = (env: Record<string, string>): string[] => {
  try {
    readGatewayConfig({ ...base, ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const value of Object.values(env)) expect(error.message).not.toContain(value);
    return error.variables.map((variable) => variable.name);
  }
};

describe('configuration of the gateway', () => {
  test('has defaults for all but the database', () => {
    expect(readGatewayConfig(base)).toMatchObject({
      http: { port: 8_080, trustProxy: false },
      publicUrl: '',
      rate: { quota: 1_200, windowSeconds: 60 },
    });
    expect(readGatewayConfig(base).tokens).toBeUndefined();
  });

  test('accepts tokens only with issuer and audience pinned', () => {
    const jwks = { RUNYARD_JWT_JWKS_URL: 'https://id.example/keys' };
    expect(variables(jwks)).toEqual(['RUNYARD_JWT_ISSUER', 'RUNYARD_JWT_AUDIENCE']);
    const { tokens } = readGatewayConfig({
      ...base,
      ...jwks,
      RUNYARD_JWT_ISSUER: 'https://id.example',
      RUNYARD_JWT_AUDIENCE: 'runyard',
    });
    expect(tokens).toEqual({
      jwksUrl: 'https://id.example/keys',
      issuer: 'https://id.example',
      audience: 'runyard',
      algorithms: ['RS256', 'ES256'],
      claims: { org: 'org_id', user: 'sub', roles: 'roles' },
    });
  });

  test.each([
    ['RUNYARD_HTTP_PORT', '70000'],
    ['RUNYARD_RATE_QUOTA', 'many'],
    ['RUNYARD_JWT_ALGORITHMS', 'HS256'],
    ['RUNYARD_JWT_ALGORITHMS', 'none'],
    ['RUNYARD_PUBLIC_URL', 'ftp://zzz'],
    ['RUNYARD_TRUST_PROXY', 'everybody'],
  ])('%s is named and its value is not, when it cannot be used', (name, value) => {
    expect(variables({ [name]: value })).toEqual([name]);
  });
});
