import { expect } from 'chai';
import { describeHosts } from '../../helpers/dialects.ts';
import { openDeliveryLog, type OpenDeliveryLog } from './delivery-log/open-delivery-log.ts';

describeHosts('former names of webhook pages', (dialectCase) => {
  let site: OpenDeliveryLog;
  beforeEach(async () => {
    site = await openDeliveryLog(dialectCase);
  });
  afterEach(async () => {
    await site.host.stop();
  });

  it('still open the delivery check', async () => {
    const former = await site.page('svc/deliveries/why-not');
    expect(former.html).to.contain('<h1>Delivery check</h1>');
    expect(former.html).to.match(/href="[^"]*svc\/deliveries\/check"/);
  });
});
