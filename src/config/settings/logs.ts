import { oneOf } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting } = settingsOf('Logs');

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const LOG_SETTINGS = {
  LOG_LEVEL: setting(
    'info',
    oneOf(LOG_LEVELS),
    `Least severe level that is written: ${LOG_LEVELS.join(', ')}.`,
    'log.level',
  ),
} as const;
