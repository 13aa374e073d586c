import { text, url } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Databases');

const MONGODB_NAME = /^[\w-]{1,63}$/;
const REDIS_PREFIX = /^[\w:.-]{1,64}$/;
const ANY = /./;

export const DATABASE_SETTINGS = {
  MONGODB_URI: optional(
    url('mongodb', 'mongodb+srv'),
    'Address of the database. Reads must go to its primary; other read preferences are rejected.',
    {
      shownDefault: 'starts a local engine',
    },
  ),
  MONGODB_DB: setting('fanfare', text('a database name', MONGODB_NAME), 'Name of the database.'),
  REDIS_URL: optional(
    url('redis', 'rediss'),
    'Address of Redis or Valkey; rediss for TLS. Several hosts, separated by commas, are the nodes of a cluster, or its sentinels if REDIS_SENTINEL is set.',
    { shownDefault: 'starts a local server' },
  ),
  REDIS_SENTINEL: optional(
    text('a name', REDIS_PREFIX),
    'Name of the primary at the sentinels in REDIS_URL.',
  ),
  REDIS_PREFIX: setting(
    'fanfare:',
    text('1 to 64 of letters, digits and _ : . -', REDIS_PREFIX),
    'Prefix of all keys and channels.',
  ),
  DATA_DIR: setting(
    '.fanfare',
    text('a folder', ANY),
    'Folder for the data of local engines and the generated secret.',
  ),
} as const;
