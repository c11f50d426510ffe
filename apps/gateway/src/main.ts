import { bootstrap } from '@runyard/service';
import { readGatewayConfig } from './config';
import { GatewayModule } from './gateway.module';
import { gatewayStart } from './http.module';

void bootstrap(
  () => GatewayModule.forRoot(readGatewayConfig()),
  gatewayStart(() => readGatewayConfig()),
);
