import { textSchema } from '../../descriptors/define.ts';
import { MAX_COMMENT_LENGTH } from '../../domain/interaction.ts';

export const commentSchema = textSchema(MAX_COMMENT_LENGTH).min(1, 'Must not be empty');
