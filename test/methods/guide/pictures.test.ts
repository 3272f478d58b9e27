import { expect, it } from 'vitest';
import { PICTURES, svg } from '../../../scripts/pictures.ts';

it.each(Object.entries(PICTURES))('docs/images/%s.svg is as drawn', async (name, picture) => {
  await expect(svg(picture)).toMatchFileSnapshot(`../../../docs/images/${name}.svg`);
});
