import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type AdminRequest, type HostApi, fieldErrorsOf } from '#plugin-api';
import { createViews } from '../../../host/views/views.ts';
import { createPage as settingsPage } from '../../../plugins/svc/settings/page/settings.page.ts';
import type { SettingsContext } from '../../../plugins/svc/settings/settings.ts';
import { createFakeSettings } from './fake-settings.ts';

describe('defaults of images', () => {
  it('are empty until they are saved', async () => {
    const { settings } = createFakeSettings();
    expect(await settings.imageDefaults()).to.deep.equal({});
    await settings.saveImageDefaults({ size: ' 1792x1024 ', quality: 'hd', style: '' });
    expect(await settings.imageDefaults()).to.deep.equal({ size: '1792x1024', quality: 'hd' });
    await settings.saveImageDefaults({ size: '', quality: '', style: 'natural' });
    expect(await settings.imageDefaults()).to.deep.equal({ style: 'natural' });
  });

  it('are rejected with a sentence at each invalid field; then nothing is saved', async () => {
    const { settings } = createFakeSettings();
    const error = await settings
      .saveImageDefaults({ size: 'large', quality: 'best', style: 'vivid' })
      .catch((thrown: unknown) => thrown);
    expect(fieldErrorsOf(error)).to.have.keys('size', 'quality');
    expect(fieldErrorsOf(error)?.['size']).to.contain('1024x1024');
    expect(await settings.imageDefaults()).to.deep.equal({});
  });

  it('accept an invalid stored value', async () => {
    const { settings, stored } = createFakeSettings();
    stored.set('svc_image_defaults', false);
    expect(await settings.imageDefaults()).to.deep.equal({});
  });

  it('have a separate time limit of 180 seconds', async () => {
    const { settings } = createFakeSettings();
    expect((await settings.timeouts()).images).to.equal(180_000);
    await settings.saveLimits({ images_timeout: '300' });
    expect((await settings.timeouts()).images).to.equal(300_000);
  });

  it('are saved by the form of the settings page, which keeps the entered values when it is invalid', async () => {
    const { settings, hooks, options } = createFakeSettings();
    const host = {
      rest: { url: (route: string) => `http://site.test/wp-json${route}` },
      hooks,
      options,
    } as unknown as HostApi;
    const context = {
      host,
      settings,
      providers: { get: () => undefined, all: () => [] },
    } as unknown as SettingsContext;
    const post = (images: object) =>
      settingsPage(context).actions!['save-images']!({ form: { images }, query: {} } as unknown as AdminRequest);
    expect((await post({ size: '1024x1024' })).notice).to.deep.equal({
      kind: 'success',
      text: 'Image defaults saved.',
    });
    expect(await settings.imageDefaults()).to.deep.equal({ size: '1024x1024' });
    const refused = await post({ size: 'wide' });
    expect(Object.keys((refused.data as { errors: object }).errors)).to.deep.equal(['images[size]']);
    expect(JSON.stringify(refused.page)).to.contain('"value":"wide"');
    const views = createViews({ directories: [fileURLToPath(new URL('../../../views', import.meta.url))] });
    const html = await views.render('svc/settings', refused.page?.data ?? {});
    expect(html)
      .to.contain('name="images[size]"')
      .and.contain('value="wide"')
      .and.contain('name="images[quality]"')
      .and.contain('name="images[style]"');
  });
});
