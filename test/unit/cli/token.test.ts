import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { token, type TokenOptions } from '../../../parts/operators/src/token.ts';
import { recordingTerminal } from '../../support/recording-terminal.ts';
import { commandContext } from '../../support/command-context.ts';

const JWT_SECRET = 'a-secret-for-this-test-of-at-least-32-bytes';

async function printed(options: Partial<TokenOptions>, env: Record<string, string> = { JWT_SECRET }) {
  const { terminal, stdout, stderr } = recordingTerminal();
  await token(commandContext({ env, terminal }), { sub: 'u1', roles: 'user', expires: '30d', ...options });
  return { stdout, stderr };
}

describe('token', () => {
  it('prints a token with exactly the requested claims', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const { stdout, stderr } = await printed({ roles: 'admin, service', expires: '2h' });
    expect(stdout).toHaveLength(1);
    const { payload, protectedHeader } = await jwtVerify(
      stdout[0] ?? '',
      new TextEncoder().encode(JWT_SECRET),
    );
    expect(protectedHeader.alg).toBe('HS256');
    expect(payload).toMatchObject({ sub: 'u1', roles: ['service', 'admin'] });
    expect((payload.exp ?? 0) - before).toBeGreaterThanOrEqual(7_200);
    expect((payload.exp ?? 0) - before).toBeLessThan(7_260);
    expect(stderr.join('\n')).toContain('service, admin');
  });

  it("signs an operator's token without a tenant claim", async () => {
    const env = { JWT_SECRET, TENANT_CLAIM: 'tenant' };
    const { stdout } = await printed({ roles: 'operator,admin' }, env);
    const { payload } = await jwtVerify(stdout[0] ?? '', new TextEncoder().encode(JWT_SECRET));
    expect(payload).toMatchObject({ sub: 'u1', roles: ['admin', 'operator'] });
    expect(payload).not.toHaveProperty('tenant');
    await expect(printed({ roles: 'operator' })).rejects.toThrow('TENANT_CLAIM is not set');
    await expect(printed({ roles: 'admin' }, env)).rejects.toThrow('--tenant <name> is missing');
  });

  it('includes issuer and audience if the server requires them', async () => {
    const { stdout } = await printed({}, { JWT_SECRET, JWT_ISSUER: 'house', JWT_AUDIENCE: 'feeds' });
    const { payload } = await jwtVerify(stdout[0] ?? '', new TextEncoder().encode(JWT_SECRET));
    expect(payload).toMatchObject({ iss: 'house', aud: 'feeds' });
  });

  it.each<[Partial<TokenOptions>, string]>([
    [{ roles: 'root' }, '--roles got "root"'],
    [{ roles: '' }, '--roles got ""'],
    [{ sub: '' }, '--sub must be'],
    [{ expires: '30' }, '--expires got "30"'],
    [{ expires: '0s' }, '--expires got "0s"'],
    [{ expires: '900000000w' }, '--expires got "900000000w"'],
  ])('refuses %j', async (options, message) => {
    await expect(printed(options)).rejects.toThrow(message);
  });

  it('rejects signing if the keys come from a JWKS', async () => {
    await expect(printed({}, { JWKS_URI: 'https://id.example/keys' })).rejects.toThrow('Set JWT_SECRET');
  });
});
