import { text, url } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Databases');

const MONGODB_NAME = /^[\w-]{1,63}$/;
const REDIS_PREFIX = /^[\w:.-]{1,64}$/;
const ANY = /./;

export const DATABASE_SETTINGS = {
  MONGODB_URI: optional(
    url('mongodb', 'mongodb+srv'),
    'The database. Reads go to its primary: other read preferences are refused.',
    {
      shownDefault: 'a local engine is started',
    },
  ),
  MONGODB_DB: setting('fanfare', text('a database name', MONGODB_NAME), 'Name of the database.'),
  REDIS_URL: optional(
    url('redis', 'rediss'),
    'Redis or Valkey, rediss for TLS. Several hosts, separated by commas, are nodes of a cluster, or with REDIS_SENTINEL its sentinels.',
    { shownDefault: 'a local server is started' },
  ),
  REDIS_SENTINEL: optional(
    text('a name', REDIS_PREFIX),
    'The name under which the sentinels that REDIS_URL gives know the primary.',
  ),
  REDIS_PREFIX: setting(
    'fanfare:',
    text('1 to 64 of letters, digits and _ : . -', REDIS_PREFIX),
    'What all keys and channels begin with.',
  ),
  DATA_DIR: setting('.fanfare', text('a folder', ANY), 'Data of local engines and the kept secret.'),
} as const;
