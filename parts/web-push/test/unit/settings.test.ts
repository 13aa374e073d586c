import { expect, test } from 'vitest';
import { configOf, faultsOf } from '../../../../test/support/config.ts';
import { PUSH_ENV } from '../../../../test/support/push-service.ts';
import { PUSH } from '../../src/settings.ts';

test('takes all settings of push messages or none, and only a pair of keys', () => {
  expect(configOf(PUSH_ENV).of(PUSH)).toEqual({
    publicKey: PUSH_ENV.PUSH_VAPID_PUBLIC_KEY,
    privateKey: PUSH_ENV.PUSH_VAPID_PRIVATE_KEY,
    subject: PUSH_ENV.PUSH_SUBJECT,
  });
  expect(configOf({}).of(PUSH)).toBeNull();
  expect(faultsOf({ PUSH_SUBJECT: 'https://app.example' })).toEqual({
    PUSH_VAPID_PUBLIC_KEY: expect.stringContaining('is not set') as string,
    PUSH_VAPID_PRIVATE_KEY: expect.stringContaining('is not set') as string,
  });
  const other = `${PUSH_ENV.PUSH_VAPID_PRIVATE_KEY.slice(0, -2)}AA`;
  expect(faultsOf({ ...PUSH_ENV, PUSH_VAPID_PRIVATE_KEY: other })).toEqual({
    PUSH_VAPID_PUBLIC_KEY: expect.stringContaining('does not belong to') as string,
  });
  for (const needed of ['EVENT_RETENTION', 'NOTIFY_AFTER'])
    expect(faultsOf({ ...PUSH_ENV, [needed]: 'off' })).toEqual({
      PUSH_VAPID_PUBLIC_KEY: `is set while ${needed} is off, expected only one of these`,
    });
  for (const subject of ['ops', 'mailto:ops@localhost', 'https://localhost', 'https://localhost:8080/ops'])
    expect(faultsOf({ ...PUSH_ENV, PUSH_SUBJECT: subject })).toHaveProperty('PUSH_SUBJECT');
});
