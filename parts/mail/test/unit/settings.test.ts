import { expect, test } from 'vitest';
import { configOf, faultsOf } from '../../../../test/support/config.ts';
import { MAIL } from '../../src/settings.ts';

test('takes all settings of mails or none, with an address of the server and recorded events', () => {
  const env = {
    MAIL_URL: 'smtp://ann%40mail:p%3Ass@mail.example',
    MAIL_FROM: 'Fänfare <feed@app.example>',
    MAIL_LINK: 'https://app.example/open?id={id}',
    PUBLIC_URL: 'https://feed.example',
  };
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  expect(configOf({ ...env, MAIL_EVENTS_SECRET: secret }).of(MAIL)).toEqual({
    server: {
      ...{ host: 'mail.example', port: 587, isSecure: false },
      login: { user: 'ann@mail', pass: 'p:ss' },
    },
    from: { name: 'Fänfare', address: 'feed@app.example' },
    ...{ link: env.MAIL_LINK, publicUrl: env.PUBLIC_URL, eventKeys: [Buffer.alloc(32)] },
  });
  expect(configOf({ ...env, MAIL_URL: 'smtps://[::1]' }).of(MAIL)?.server).toEqual({
    ...{ host: '::1', port: 465, isSecure: true, login: null },
  });
  expect(configOf({}).of(MAIL)).toBeNull();
  const { MAIL_URL: _url, ...rest } = env;
  expect(Object.keys(faultsOf(rest))).toEqual(['MAIL_URL']);
  expect(Object.keys(faultsOf({ MAIL_EVENTS_SECRET: secret }))).toEqual(['MAIL_EVENTS_SECRET']);
  expect(Object.keys(faultsOf({ ...env, PUBLIC_URL: '' }))).toEqual(['PUBLIC_URL']);
  expect(Object.keys(faultsOf({ ...env, EVENT_RETENTION: 'off' }))).toEqual(['MAIL_URL']);
  for (const [name, ...wrong] of [
    [
      'MAIL_URL',
      'mail.example',
      'http://mail.example',
      'smtp://',
      'smtp://ann@mail.example',
      'smtp://a:b@m/?x=1',
    ],
    [
      'MAIL_FROM',
      'Fanfare',
      'a@b.example, c@d.example',
      'A\u0001 <a@b.example>',
      'A <a@b.example> <c@d.example>',
    ],
    ['MAIL_LINK', 'app.example', 'javascript:alert(1)', 'https://app.example/"'],
    ['MAIL_EVENTS_SECRET', 'secret', `${secret},`, Array.from({ length: 6 }, () => secret).join()],
  ] as const)
    for (const value of wrong) {
      const faults = faultsOf({ ...env, [name]: value });
      expect([value, Object.keys(faults)]).toEqual([value, [name]]);
      // A password is not printed.
      if (name === 'MAIL_URL') expect(faults[name]).toContain('(not shown)');
    }
});
