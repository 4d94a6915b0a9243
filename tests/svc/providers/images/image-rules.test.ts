import { expect } from 'chai';
import fc from 'fast-check';
import { googleImageModels } from '../../../../plugins/svc/providers/google/google-models.ts';
import { findImageRules } from '../../../../plugins/svc/providers/images/image-rules.ts';
import { nearestShape, nearestTier } from '../../../../plugins/svc/providers/images/image-rules.ts';
import { imageOutput } from '../../../../plugins/svc/providers/images/images-response.ts';
import { openAiImageModels } from '../../../../plugins/svc/providers/images/openai-image-models.ts';
import { openRouterModalities } from '../../../../plugins/svc/providers/images/openrouter-images.ts';

const shapes = ['1:1', '2:3', '3:2', '3:4', '4:3', '9:16', '16:9', '21:9'];
const tiers = { '1K': 1024, '2K': 2048, '4K': 4096 };

describe('A size as shape and tier', () => {
  for (const [size, shape, tier] of [
    ['1024x1024', '1:1', '1K'],
    ['1792x1024', '16:9', '1K'],
    ['1024x1792', '9:16', '1K'],
    ['1536x1024', '3:2', '1K'],
    ['1024x1536', '2:3', '1K'],
    ['1024x768', '4:3', '1K'],
    ['768x1024', '3:4', '1K'],
    ['2048x2048', '1:1', '2K'],
    ['3840x2160', '16:9', '2K'],
    ['4096x4096', '1:1', '4K'],
    ['256x256', '1:1', '1K'],
    ['9999x1', '21:9', '1K'],
  ] as const) {
    it(`is ${shape} and ${tier} for ${size}`, () => {
      expect([nearestShape(size, shapes), nearestTier(size, tiers)]).to.deep.equal([shape, tier]);
    });
  }

  it('is always one the model knows, a landscape never upright', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 1, max: 99_999 }), (width, height) => {
        const shape = nearestShape(`${width}x${height}`, shapes);
        expect(shapes).to.include(shape);
        const [wide = 0, high = 0] = shape.split(':').map(Number);
        expect(Math.sign(wide - high)).to.be.oneOf([0, Math.sign(width - height)]);
      }),
    );
  });
});

describe('Rules of image models', () => {
  for (const [name, perCall] of [
    ['dall-e-3', 1],
    ['Dalle3', 1],
    ['DALL-E-2', 10],
    ['gpt-image-1', 10],
    ['gpt-image-2-2026-04-21', 10],
    ['openai/gpt-image-1.5', 10],
    ['flux', 1],
  ] as const) {
    it(`let ${name} give ${String(perCall)} a call`, () => {
      expect(findImageRules(openAiImageModels, name).perCall).to.equal(perCall);
    });
  }

  for (const [name, perCall, size] of [
    ['imagen-4.0-fast-generate-001', 4, 'no tiers'],
    ['imagen-4.0-ultra-generate-001', 1, 'tiers'],
    ['models/imagen-4.0-generate-001', 4, 'tiers'],
    ['imagen-3.0-generate-002', 4, 'no tiers'],
    ['gemini-2.0-flash-preview-image-generation', 1, 'none'],
    ['gemini-2.5-flash-image', 1, 'no tiers'],
    ['gemini-3-pro-image', 1, 'tiers'],
    ['gemini-3.1-flash-image', 1, 'tiers'],
  ] as const) {
    it(`let ${name} give ${String(perCall)} a call, with ${size} of size`, () => {
      const rules = findImageRules(googleImageModels, name);
      const kind =
        rules.size === null ? 'none' : typeof rules.size === 'object' && rules.size.tiers ? 'tiers' : 'no tiers';
      expect([rules.perCall, kind]).to.deep.equal([perCall, size]);
    });
  }

  it('name text beside images only for models at OpenRouter that write as well', () => {
    expect(openRouterModalities('google/gemini-3.1-flash-image')).to.deep.equal(['image', 'text']);
    expect(openRouterModalities('black-forest-labs/flux.2-pro')).to.deep.equal(['image']);
  });
});

describe('An image of an answer', () => {
  const nothing = { url: null, b64_json: null, revised_prompt: null, mimeType: null };

  it('is taken out of a data address, wherever it stands', () => {
    const data = 'data:image/webp;base64,QUJD';
    expect(imageOutput({ ...nothing, url: data })).to.deep.equal({
      ...nothing,
      b64_json: 'QUJD',
      mimeType: 'image/webp',
    });
    expect(imageOutput({ ...nothing, b64_json: data })).to.deep.equal({
      ...nothing,
      b64_json: 'QUJD',
      mimeType: 'image/webp',
    });
  });

  it('is none without data or an address of the web', () => {
    for (const url of [
      null,
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/html,x',
      'data:image/png;base64,',
      '/x.png',
      'https://',
    ])
      expect(imageOutput({ ...nothing, url })).to.equal(null);
  });
});
