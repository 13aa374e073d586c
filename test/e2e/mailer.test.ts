import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { startMailer } from '../support/mailer.ts';
import { PATIENCE_MS } from '../support/patience.ts';

test('the example mails what concerns a member who wants mails, in sentences of the API', async () => {
  let url = '';
  await using mailer = await startMailer({
    get url() {
      return `${url}/graphql`;
    },
    tokenOf: (memberId) => app.token(memberId),
  });
  const receivers = [{ url: mailer.url, secrets: [mailer.secret], allowPrivateAddress: true }];
  await using app: TestApp = await startTestApp({
    env: { WEBHOOKS: JSON.stringify(receivers), NOTIFY_AFTER: '0s', POLL_INTERVAL: '100ms' },
  });
  ({ url } = app);
  const { webhookReceivers } = app.app.database.collections;
  await expect.poll(() => webhookReceivers.countDocuments(), { timeout: PATIENCE_MS }).toBe(1);
  await upsert(app, {
    members: ['Ann', 'Bea'].map((name) => ({ memberId: name.toLowerCase(), name })),
  });
  const actionId = await publish(app, { actorId: 'ann', scope: 'PUBLIC' });
  // A like that was pushed would let the mail wait for a minute.
  const want = `mutation { setNotificationPreferences(preferences: [
    { kind: COMMENT, channel: EMAIL, isOn: true }, { kind: COMMENT, channel: IN_APP, isOn: false }
    { kind: LIKE, channel: PUSH, isOn: false }
  ]) { memberId } }`;
  await ask(app, want, {}, { sub: 'ann' });
  const add = `mutation ($id: ID!) {
    addInteraction(input: { actionId: $id, kind: LIKE }) { isReplay }
    other: addInteraction(input: { actionId: $id, kind: COMMENT, text: "hello" }) { isReplay }
  }`;
  await ask(app, add, { id: actionId }, { sub: 'bea' });
  await expect.poll(() => mailer.mails.length, { timeout: PATIENCE_MS }).toBe(1);
  expect(mailer.mails[0]).toContain('To: ann@app.example');
  expect(mailer.mails[0]).toContain('Subject: Bea commented on your post');
  expect(mailer.mails[0]).not.toContain('liked');
});
