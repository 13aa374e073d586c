import { onOff } from '../../../src/config/kinds.ts';
import { partSettings } from '../../../src/config/part-settings.ts';
import { setting } from '../../../src/config/settings.ts';

/** The address of the server, with which what feed readers get begins; `null`: there is nothing for them. */
export const SYNDICATION = partSettings({
  group: 'Server',
  settings: {
    SYNDICATION: setting(
      'off',
      onOff(),
      'Feeds for feed readers, at /feeds: public actions of a ref for everybody, and of each member their own by a key; and ActivityStreams, at /actions and /refs; see syndication.md. Needs PUBLIC_URL.',
    ),
  },
  of: ({ SYNDICATION: isOn, PUBLIC_URL: url }) => (isOn ? (url ?? null) : null),
  faults: ({ SYNDICATION: isOn, PUBLIC_URL: url }) =>
    isOn === true && url === undefined
      ? [{ name: 'PUBLIC_URL', message: 'is not set, expected it while SYNDICATION is on' }]
      : [],
});
