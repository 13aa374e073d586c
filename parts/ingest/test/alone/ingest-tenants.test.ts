import { expect, test } from 'vitest';
import { startTestApp } from '../../../../test/support/app.ts';
import { actionLine, ingest, numbered } from '../../../../test/support/ingest.ts';
import { tokenWith, TENANT_CLAIM } from '../../../../test/support/tenants.ts';
import { uniqueName } from '../../../../test/support/unique-name.ts';

test('lines belong to the tenant of the token, and count for its quota', async () => {
  const [acme, other] = [uniqueName('acme'), uniqueName('other')].map((name) => name.replace('_', '-'));
  const env = { INGEST: 'on', TENANT_CLAIM, TENANT_PUBLICATIONS: '3/1h' };
  await using app = await startTestApp({ worker: false, env });
  const send = async (tenant: string | undefined, lines: readonly string[]) => {
    const token = await tokenWith('importer', { tenant, roles: ['service'] });
    return (await ingest(app.url, lines.join('\n'), { token })).lines;
  };
  const lines = numbered(2).map((key) => actionLine(key, { mentions: ['ann'] }));
  const ofAcme = await send(acme, lines);
  const ofOther = await send(other, lines);
  expect(new Set([...ofAcme, ...ofOther].map(({ id }) => id)).size).toBe(4);
  expect(await send(acme, lines)).toEqual(ofAcme);
  const codes = (
    await send(
      acme,
      numbered(3, 'more').map((key) => actionLine(key)),
    )
  ).map(({ code }) => code);
  expect(codes.sort()).toEqual(['RATE_LIMITED', 'RATE_LIMITED', undefined]);
  const [refused] = await send(other, [actionLine('bad', { actorId: 'b'.repeat(300) })]);
  expect(refused).toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(refused?.error).not.toContain(other);
  const actors = await app.app.database.collections.actions.distinct('actorId');
  expect(actors.sort()).toEqual([acme, other].map((tenant) => `${tenant ?? ''}\u001fbob`).sort());
});
