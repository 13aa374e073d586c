import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createHooks } from '../../../src/app/hooks.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { checkHostConfig, type HostConfig } from '../../../src/descriptors/host-config.ts';
import type { InteractionToCheck, PublicationToCheck } from '../../../src/domain/hook.ts';
import { signatureHeaders, signingKey } from '../../../src/domain/signature.ts';
import type { Core } from '../../../src/core/core.ts';
import { actionsInReview, carryOutRulings, commentsInReview } from '../../../src/features/reports/reports.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import {
  unhideInteraction,
  updateInteraction,
} from '../../../src/features/interactions/moderate-interaction.ts';
import { publishAction, publishActions } from '../../../src/features/publish/publish-action.ts';
import { updateAction } from '../../../src/features/publish/update-action.ts';
import { encodeActionId, encodeInteractionId } from '../../../src/domain/node-ids.ts';
import { Closer } from '../../../src/lib/closer.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** The parts with what a host's configuration says. */
function withHooks(
  parts: Parts,
  { hostConfig, failure = 'open', closer }: { hostConfig: HostConfig; failure?: string; closer: Closer },
): Core {
  const config = readConfig(
    { JWT_SECRET: 's'.repeat(32), HOOK_FAILURE: failure },
    { feedModels: ['items'], settings: [] },
  );
  const { hooks } = checkHostConfig(hostConfig, 'The test');
  return { ...parts.core, hooks: createHooks(hooks, config, createLogger({ level: 'fatal' }), closer) };
}

const posted = (text: string) => ({
  actorId: 'ann',
  scope: 'PUBLIC',
  descriptor: { posted: { postId: 'p', postTitle: 'T', text } },
});

/** A URL that is asked. */
async function openUrl(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    hook: { url: `http://127.0.0.1:${String(port)}/`, secrets: [SECRET], allowPrivateAddress: true },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Holds "maybe" and refuses "never". */
function byText(text: unknown) {
  if (text === 'maybe') return { verdict: 'hold' as const };
  return text === 'never' ? { verdict: 'refuse' as const, message: 'Not here' } : undefined;
}

test('a function accepts, holds until a moderator lifts it, or refuses a publication with a message', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  const { services, service, session } = parts;
  const asked: PublicationToCheck[] = [];
  const core = withHooks(parts, {
    closer,
    hostConfig: {
      beforePublish(what) {
        asked.push(structuredClone(what));
        const { text } = what.descriptor;
        // What it does with its argument changes nothing.
        Object.assign(what.descriptor, { text: 'changed' });
        return byText(text);
      },
    },
  });
  const publish = (text: string) => publishAction(core, service, posted(text));
  const isSeen = async (id: string): Promise<boolean> =>
    (await services.getAction(session('bob'), id)) !== null;
  const good = (await publish('good')).action;
  expect([await isSeen(good.id), good.descriptor['text']]).toEqual([true, 'good']);
  await expect(publish('never')).rejects.toMatchObject({ code: 'FORBIDDEN', message: 'Not here' });
  const held = (await publish('maybe')).action;
  expect([held.isHidden, await isSeen(held.id)]).toEqual([true, false]);
  const queue = async () =>
    (await services.readReports(session('mona', 'moderator'), {})).edges.map(({ node }) => node);
  expect(await queue()).toMatchObject([{ state: 'OPEN', isWithheld: true, target: { actionId: held.id } }]);
  await services.unhideAction(session('mona', 'moderator'), held.id);
  expect(await isSeen(held.id)).toBe(true);
  expect(await queue()).toMatchObject([{ state: 'DISMISSED', isWithheld: false, resolvedBy: 'mona' }]);
  expect(asked[0]).toMatchObject({
    by: 'service',
    actorId: 'ann',
    scope: 'PUBLIC',
    descriptor: { text: 'good' },
  });
});

test('of several publications it holds and refuses single ones; a retry is not asked about, nor are imports', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  let count = 0;
  const core = withHooks(parts, {
    closer,
    hostConfig: { beforePublish: ({ descriptor: { text } }) => ((count += 1), byText(text)) },
  });
  const inputs = ['good', 'never', 'maybe'].map((text) => ({ ...posted(text), idempotencyKey: text }));
  const outcomes = await publishActions(core, parts.service, inputs);
  expect(outcomes.map(({ action, error }) => error?.message ?? action?.isHidden)).toEqual([
    ...[false, 'Not here', true],
  ]);
  expect(count).toBe(3);
  await publishActions(core, parts.service, inputs.slice(0, 1));
  await publishActions(core, parts.service, [posted('never')], { isBulk: true });
  expect(count).toBe(3);
});

test('holds and refuses interactions', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  const { services, session } = parts;
  const asked: InteractionToCheck[] = [];
  const core = withHooks(parts, {
    closer,
    hostConfig: { beforeInteract: (what) => (asked.push(what), byText(what.text)) },
  });
  const actionId = (await parts.publish({ scope: 'PUBLIC', actorId: 'cid' })).action.id;
  const say = (text: string) =>
    addInteraction(core, session('ann'), { actionId, kind: 'COMMENT', text, idempotencyKey: text });
  await expect(say('never')).rejects.toMatchObject({ code: 'FORBIDDEN', message: 'Not here' });
  const { interaction } = await say('maybe');
  expect(interaction.state).toBe('HIDDEN');
  const shown = async () => {
    const page = await services.listInteractions(session('bob'), actionId, {});
    const action = await services.getAction(session('bob'), actionId);
    return [page.edges.map(({ node }) => node.text), action?.engagement.comments];
  };
  await say('good');
  expect(await shown()).toEqual([['good'], 1]);
  const [held] = (await services.readReports(session('mona', 'moderator'), {})).edges;
  expect(held?.node.target).toMatchObject({ kind: 'interaction', interactionId: interaction.id });
  const outcome = { outcome: 'Fine', isDismissed: true };
  await services.resolveReport(session('mona', 'moderator'), held?.node.id ?? '', outcome);
  expect((await shown())[1]).toBe(2);
  expect(asked[0]).toMatchObject({ by: 'ann', actorId: 'ann', actionActorId: 'cid', kind: 'COMMENT' });
});

test('what a hook holds is shown to its writer as waiting for review, and to nobody else, until a moderator has looked', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  const { services, session } = parts;
  const holds = () => 'hold' as const;
  const core = withHooks(parts, { closer, hostConfig: { beforePublish: holds, beforeInteract: holds } });
  const actionId = (await parts.publish({ scope: 'PUBLIC', actorId: 'cid' })).action.id;
  const publication = (await publishAction(core, parts.service, posted('mine'))).action;
  const { interaction } = await addInteraction(core, session('ann'), {
    ...{ actionId, kind: 'COMMENT', text: 'mine' },
  });
  const waiting = async (reader: string) => [
    ...(await actionsInReview(session(reader))),
    ...(await commentsInReview(session(reader), actionId)),
  ];
  const own = (await waiting('ann')).map(({ id }) => id);
  expect(own).toEqual([publication.id, interaction.id]);
  expect(await waiting('bob')).toEqual([]);
  // Of another action.
  expect(await commentsInReview(session('ann'), publication.id)).toEqual([]);
  const mona = session('mona', 'moderator');
  for (const { node } of (await services.readReports(mona, {})).edges)
    await services.resolveReport(mona, node.id, { outcome: 'Decided', isDismissed: false });
  expect(await waiting('ann')).toEqual([]);
});

test('an edit is asked about as it will be: refused it changes nothing, held it is hidden until a moderator lifts it', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  const { services, service, session } = parts;
  const asked: (PublicationToCheck | InteractionToCheck)[] = [];
  const core = withHooks(parts, {
    closer,
    hostConfig: {
      beforePublish: (what) => (asked.push(what), byText(what.descriptor['text'])),
      beforeInteract: (what) => (asked.push(what), byText(what.text)),
    },
  });
  const { id } = (await publishAction(core, service, posted('good'))).action;
  const { interaction } = await addInteraction(core, session('bob'), {
    ...{ actionId: id, kind: 'COMMENT', text: 'good' },
  });
  const mona = () => session('mona', 'moderator');
  const edits: readonly ((text: string) => Promise<unknown>)[] = [
    (text) => updateAction(core, session('ann'), id, { descriptor: posted(text).descriptor }),
    (text) => updateInteraction(core, session('bob'), interaction.id, text),
  ];
  const texts = async () => {
    const action = await services.getAction(session('cid'), id);
    const page = await services.listInteractions(session('cid'), id, {});
    return [action?.descriptor['text'], page.edges.map(({ node }) => node.text).join()];
  };
  for (const edit of edits) await expect(edit('never')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await texts()).toEqual(['good', 'good']);
  // Once more after a moderator has decided about the first.
  for (const text of ['maybe', 'good', 'maybe'])
    for (const [index, edit] of [...edits.entries()].reverse()) {
      await edit(text);
      for (const { node } of (await services.readReports(mona(), { state: 'OPEN' })).edges) {
        expect((await texts())[index]).not.toBe('maybe');
        await services.resolveReport(mona(), node.id, { outcome: 'Fine', isDismissed: true });
      }
    }
  expect(await texts()).toEqual(['maybe', 'maybe']);
  expect(await parts.database.collections.moderationLog.countDocuments({ kind: /^HIDE/u })).toBe(4);
  expect(asked.slice(2, 4)).toMatchObject([
    { actionId: encodeActionId(id), by: 'ann', descriptor: { text: 'never' } },
    { interactionId: encodeInteractionId(interaction.id), actionActorId: 'ann', text: 'never' },
  ]);
});

/** More than a call below has. */
const MOST_WRITES = 12;
/** Its publication writes no names beside it. */
const NAMELESS = {
  ...{ actorId: 'ann', scope: 'PUBLIC' },
  descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: 'p' } },
};

test('whenever a process dies, all that the hook holds is in the queue, and dismissing it shows it', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  const { services, session, database } = parts;
  const holds = () => 'hold' as const;
  const core = withHooks(parts, { closer, hostConfig: { beforePublish: holds, beforeInteract: holds } });
  const { action } = await parts.publish({ scope: 'PUBLIC', actorId: 'cid' });
  const calls: readonly ((core: Core, key: string) => Promise<unknown>)[] = [
    (dying, idempotencyKey) => publishAction(dying, parts.service, { ...NAMELESS, idempotencyKey }),
    (dying, idempotencyKey) => publishActions(dying, parts.service, [{ ...NAMELESS, idempotencyKey }]),
    (dying, idempotencyKey) =>
      addInteraction(dying, session('ann'), {
        ...{ actionId: action.id, kind: 'COMMENT', text: 'x', idempotencyKey },
      }),
  ];
  for (const [index, call] of calls.entries()) {
    let writes = 0;
    for (let isCutOff = true; isCutOff && writes < MOST_WRITES;) {
      writes += 1;
      const dying = createRepositories(crashingCollections(database.collections, writes));
      const key = `${String(index)} ${String(writes)}`;
      isCutOff = await call({ ...core, ...dying }, key).then(
        () => false,
        (error: unknown) => {
          if (error instanceof Crash) return true;
          throw error;
        },
      );
    }
    expect(writes).toBeGreaterThan(2);
    expect(writes).toBeLessThan(MOST_WRITES);
  }
  const { actions, interactions, reports } = database.collections;
  const hidden = async (): Promise<string[]> => [
    ...(await actions.distinct('_id', { isHidden: true })).map((id) => `action:${id.toHexString()}`),
    ...(await interactions.distinct('_id', { state: 'HIDDEN' })).map(
      (id) => `interaction:${id.toHexString()}`,
    ),
  ];
  const held = await hidden();
  expect(held.length).toBeGreaterThan(3);
  expect(await reports.distinct('target')).toEqual(expect.arrayContaining(held));
  const { edges } = await services.readReports(session('mona', 'moderator'), { first: 100 });
  for (const { node } of edges)
    await services.resolveReport(session('mona', 'moderator'), node.id, {
      outcome: 'Fine',
      isDismissed: true,
    });
  expect(await hidden()).toEqual([]);
});

test('what a process that dies was about to show is shown by upkeep', async () => {
  await using closer = new Closer();
  await using parts = await openParts();
  const { services, session, database } = parts;
  const core = withHooks(parts, { closer, hostConfig: { beforeInteract: () => 'hold' } });
  const actionId = (await parts.publish({ scope: 'PUBLIC', actorId: 'cid' })).action.id;
  const { interaction } = await addInteraction(core, session('ann'), { actionId, kind: 'LIKE' });
  const mona = session('mona', 'moderator');
  const dying = createRepositories(crashingCollections(database.collections, 1));
  await expect(unhideInteraction({ ...core, ...dying }, mona, interaction.id)).rejects.toThrow(Crash);
  expect(await services.getInteraction(session('eve'), interaction.id)).toBeNull();
  await carryOutRulings(core, new Date(Date.now() + 60_000));
  expect(await services.getInteraction(session('eve'), interaction.id)).not.toBeNull();
  expect((await services.readReports(mona, {})).edges).toMatchObject([{ node: { state: 'DISMISSED' } }]);
});

test('what is given twice at the same time and held is in the queue once', async () => {
  await using parts = await openParts();
  const waiting: (() => void)[] = [];
  const beforeInteract = async () => {
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 2) for (const go of waiting) go();
    });
    return { verdict: 'hold' } as const;
  };
  const core: Core = { ...parts.core, hooks: { beforePublish: null, beforeInteract } };
  const actionId = (await parts.publish({ scope: 'PUBLIC', actorId: 'cid' })).action.id;
  const like = () => addInteraction(core, parts.session('ann'), { actionId, kind: 'LIKE' });
  const [{ interaction }] = await Promise.all([like(), like()]);
  const { edges } = await parts.services.readReports(parts.session('mona', 'moderator'), {});
  expect(edges.map(({ node }) => node.target)).toMatchObject([{ interactionId: interaction.id }]);
});

test('a URL is asked with the signature of webhooks', async () => {
  const bodies: string[] = [];
  await using url = await openUrl((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { 'webhook-id': id, 'webhook-timestamp': sent, 'webhook-signature': signature } = request.headers;
      const message = { id: String(id), sentAt: new Date(Number(sent) * 1_000), body };
      const expected = signatureHeaders([signingKey(SECRET) ?? new Uint8Array()], message);
      if (signature === expected['webhook-signature']) bodies.push(body);
      response.end(JSON.stringify(byText('never')));
    });
  });
  await using closer = new Closer();
  await using parts = await openParts();
  const core = withHooks(parts, { closer, hostConfig: { beforePublish: url.hook } });
  await expect(publishAction(core, parts.service, posted('x'))).rejects.toMatchObject({
    message: 'Not here',
  });
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ type: 'beforePublish', data: { actorId: 'ann' } });
});

test.each(['open', 'closed'])('without an answer it is %s, as the setting says', async (failure) => {
  // What is read of these looks like an empty answer.
  await using tooLong = await openUrl((_request, response) => response.end(' '.repeat(100_000)));
  await using brokenOff = await openUrl((_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write(' ', () => response.destroy());
  });
  await using closer = new Closer();
  await using parts = await openParts();
  const broken: HostConfig['beforePublish'][] = [
    () => Promise.reject(new Error('Broken')),
    () => ({ verdict: 'perhaps' }) as never,
    { url: 'http://127.0.0.1:1/', secrets: [SECRET], allowPrivateAddress: true },
    ...[tooLong.hook, brokenOff.hook],
  ];
  for (const beforePublish of broken) {
    const core = withHooks(parts, {
      closer,
      failure,
      hostConfig: { ...(beforePublish && { beforePublish }) },
    });
    const published = publishAction(core, parts.service, posted('x'));
    if (failure === 'open') expect((await published).action.isHidden).toBe(false);
    else await expect(published).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
});

test('a hook that is neither a function nor a signed URL is a fault of the configuration', () => {
  const bad: readonly unknown[] = [
    'https://x.example',
    { url: 'http://x.example', secrets: [SECRET] },
    { url: 'https://x.example' },
  ];
  for (const beforePublish of bad)
    expect(() => checkHostConfig({ beforePublish }, 'The test')).toThrow(
      /beforePublish: Must be a function/u,
    );
});
