//! The rows. Sources: pci.ids; linux: drivers/net/ethernet/mellanox/mlx5/core/main.c, mlx4/main.c,
//! drivers/infiniband/hw/{mthca,qib,hfi1}.

use super::{HcaModel, LinkTypes};

const MELLANOX: u16 = 0x15b3;

const MLX5: HcaModel = HcaModel {
    vendor: MELLANOX,
    devices: &[],
    name: "",
    driver: "mlx5_core",
    links: LinkTypes::Either,
    connected: false,
    vf: false,
};

const MLX4: HcaModel = HcaModel {
    driver: "mlx4_core",
    connected: true,
    ..MLX5
};

/// Every HCA that ibplan knows.
pub const MODELS: &[HcaModel] = &[
    HcaModel {
        devices: &[0x5a44, 0x6278, 0x6282, 0x6274, 0x5e8c],
        name: "InfiniHost",
        driver: "ib_mthca",
        links: LinkTypes::Infiniband,
        connected: true,
        ..MLX5
    },
    HcaModel {
        devices: &[
            0x6340, 0x634a, 0x6354, 0x6732, 0x673c, 0x6368, 0x6750, 0x675a, 0x6764, 0x676e, 0x6746,
        ],
        name: "ConnectX / ConnectX-2",
        ..MLX4
    },
    HcaModel {
        devices: &[0x1002],
        name: "ConnectX-2 VF",
        vf: true,
        ..MLX4
    },
    HcaModel {
        devices: &[0x1003],
        name: "ConnectX-3",
        ..MLX4
    },
    HcaModel {
        devices: &[0x1004],
        name: "ConnectX-3 VF",
        vf: true,
        ..MLX4
    },
    HcaModel {
        devices: &[0x1007],
        name: "ConnectX-3 Pro",
        ..MLX4
    },
    // Connect-IB is driven by mlx5 and keeps the legacy IPoIB path: its firmware has no enhanced offloads.
    HcaModel {
        devices: &[0x1011],
        name: "Connect-IB",
        links: LinkTypes::Infiniband,
        connected: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1012],
        name: "Connect-IB VF",
        links: LinkTypes::Infiniband,
        connected: true,
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1013],
        name: "ConnectX-4",
        ..MLX5
    },
    HcaModel {
        devices: &[0x1014],
        name: "ConnectX-4 VF",
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1015],
        name: "ConnectX-4 Lx",
        links: LinkTypes::Ethernet,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1016],
        name: "ConnectX-4 Lx VF",
        links: LinkTypes::Ethernet,
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1017],
        name: "ConnectX-5",
        ..MLX5
    },
    HcaModel {
        devices: &[0x1018],
        name: "ConnectX-5 VF",
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1019],
        name: "ConnectX-5 Ex",
        ..MLX5
    },
    HcaModel {
        devices: &[0x101a],
        name: "ConnectX-5 Ex VF",
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x101b],
        name: "ConnectX-6",
        ..MLX5
    },
    HcaModel {
        devices: &[0x101c],
        name: "ConnectX-6 VF",
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x101d],
        name: "ConnectX-6 Dx",
        links: LinkTypes::Ethernet,
        ..MLX5
    },
    HcaModel {
        devices: &[0x101e],
        name: "ConnectX family VF",
        vf: true,
        ..MLX5
    },
    HcaModel {
        devices: &[0x101f],
        name: "ConnectX-6 Lx",
        links: LinkTypes::Ethernet,
        ..MLX5
    },
    HcaModel {
        devices: &[0x1021],
        name: "ConnectX-7",
        ..MLX5
    },
    HcaModel {
        devices: &[0x1023],
        name: "ConnectX-8",
        ..MLX5
    },
    HcaModel {
        devices: &[0x1025],
        name: "ConnectX-9",
        ..MLX5
    },
    HcaModel {
        devices: &[0x1027],
        name: "ConnectX-10",
        ..MLX5
    },
    HcaModel {
        devices: &[0xa2d2, 0xa2d3],
        name: "BlueField",
        ..MLX5
    },
    HcaModel {
        devices: &[0xa2d6],
        name: "BlueField-2",
        ..MLX5
    },
    HcaModel {
        devices: &[0xa2d9, 0xa2dc],
        name: "BlueField-3",
        ..MLX5
    },
    HcaModel {
        devices: &[0xa2df],
        name: "BlueField-4",
        ..MLX5
    },
    HcaModel {
        devices: &[
            0x01f6, 0x01f8, 0x01ff, 0x0209, 0x020b, 0x020d, 0x020f, 0x0211, 0x0212,
        ],
        name: "NVIDIA adapter in flash-recovery mode",
        driver: "",
        links: LinkTypes::Recovery,
        ..MLX5
    },
    HcaModel {
        vendor: 0x8086,
        devices: &[0x24f0, 0x24f1],
        name: "Omni-Path HFI",
        driver: "hfi1",
        links: LinkTypes::OmniPath,
        connected: true,
        vf: false,
    },
    HcaModel {
        vendor: 0x1077,
        devices: &[0x7322, 0x7220],
        name: "TrueScale",
        driver: "ib_qib",
        links: LinkTypes::Infiniband,
        connected: true,
        vf: false,
    },
    HcaModel {
        vendor: 0x1fc1,
        devices: &[0x0010],
        name: "TrueScale (QLogic)",
        driver: "ib_qib",
        links: LinkTypes::Infiniband,
        connected: true,
        vf: false,
    },
];
