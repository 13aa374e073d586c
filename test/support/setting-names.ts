import { BROUGHT } from '../../src/app/brought.ts';
import { allSettings } from '../../src/config/part-settings.ts';

/** Of all settings, with those of parts. */
export const SETTING_NAMES: readonly string[] = allSettings(BROUGHT.settings).map(([name]) => name);
