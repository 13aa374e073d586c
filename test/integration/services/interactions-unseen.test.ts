import { expect, test } from 'vitest';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import { openParts } from '../../support/parts.ts';

/** Ann is among the readers of each, eve is not. */
const ACTIONS: readonly (readonly [string, Partial<PublishActionInput>])[] = [
  ['TEAM', { actorId: 'bob', scope: 'TEAM' }],
  ['DEPARTMENT', { actorId: 'bob', scope: 'DEPARTMENT' }],
  ['RESTRICTED', { actorId: 'bob', scope: 'RESTRICTED', recipients: ['ann'] }],
  ['FOLLOWERS', { actorId: 'bob', scope: 'FOLLOWERS' }],
];

test.each(ACTIONS)(
  'interactions with a %s action are visible only to readers who may see it, everywhere',
  async (_scope, input) => {
    await using parts = await openParts();
    const { services } = parts;
    await services.upsertMembers(
      parts.service,
      ['ann', 'bob'].map((memberId) => ({ memberId, name: memberId, teamId: 't', departmentId: 'd' })),
    );
    await services.follow(parts.session('ann'), 'bob', 0);
    const { action } = await parts.publish(input);
    const comment = { actionId: action.id, kind: 'COMMENT', text: 'Among us' } as const;
    const { interaction } = await services.addInteraction(parts.session('ann'), comment);
    expect(await services.getInteraction(parts.session('bob'), interaction.id)).toMatchObject({
      text: 'Among us',
    });

    const eve = () => parts.session('eve');
    expect(await services.getInteraction(eve(), interaction.id)).toBeNull();
    for (const refused of [
      () => services.addInteraction(eve(), comment),
      () => services.addInteraction(eve(), { ...comment, parentId: interaction.id }),
      () => services.updateInteraction(eve(), interaction.id, 'Mine'),
      () => services.removeInteraction(eve(), { id: interaction.id }),
      () => services.removeInteraction(eve(), { own: { actionId: action.id, kind: 'COMMENT' } }),
      // A service has the rights of whom it names.
      () => services.addInteraction(parts.session('importer', 'service'), { ...comment, actorId: 'eve' }),
    ])
      await expect(refused()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(services.latestInteractions(eve(), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });

    // Who could see it when they wrote, and cannot any more, can neither read nor change what they wrote.
    await services.hideAction(parts.session('root', 'admin'), action.id, null);
    expect(await services.getInteraction(parts.session('ann'), interaction.id)).toBeNull();
    await expect(
      services.updateInteraction(parts.session('ann'), interaction.id, 'Still here'),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const kept = await services.getInteraction(parts.session('root', 'admin'), interaction.id);
    expect(kept).toMatchObject({ text: 'Among us', editedAt: null });
  },
);
